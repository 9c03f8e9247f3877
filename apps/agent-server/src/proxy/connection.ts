import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Transport,
} from "@modelcontextprotocol/client";
import { withDeadline } from "../execution/deadline.ts";
import { retryDelayMs } from "../relay/backoff.ts";
import type { Runtime } from "../runtime.ts";
import { compileSchema, type CheckValue } from "../tools/compile-schema.ts";
import { newTransport, type ServerAddress } from "./transport.ts";

/** A connection to another MCP server that is made again whenever it is lost. */
export interface Connection {
  /** The first attempt; rejects when it fails, and then nothing is tried again. */
  open(): Promise<Client>;
  /** The client in use, or the next one: waits a moment for a connection that is being made again. */
  client(signal: AbortSignal): Promise<Client | undefined>;
  /** Gives up `client`, whose session the server has forgotten. */
  renew(client: Client): void;
  close(): Promise<void>;
}

const connectMs = 60_000;
/** A server of the older era may never answer the question which era it speaks. */
const probeMs = 5_000;
const patienceMs = 10_000;
const capMs = 30_000;

export function createConnection(options: {
  name: string;
  address: ServerAddress;
  version: string;
  runtime: Runtime;
}): Connection {
  const { name, address, runtime } = options;
  const info = { name: "agent-server", version: options.version };
  let next = Promise.withResolvers<Client>();
  let live: Client | undefined;
  let connectedAt = 0;
  let failures = 0;
  let closed = false;
  let cancelRetry = () => {};

  async function connect(): Promise<Client> {
    // Nobody sits in front of an agent: no sampling, no elicitation, no roots.
    const client = new Client(info, {
      capabilities: {},
      jsonSchemaValidator: outputValidator,
      versionNegotiation: { mode: "auto", probe: { timeoutMs: probeMs } },
    });
    await client.connect(newTransport(name, address, runtime), { timeout: connectMs });
    if (closed) {
      await client.close();
      throw new Error("the agent stopped");
    }
    keepOrder(client.transport);
    client.onclose = () => lost(client);
    live = client;
    connectedAt = runtime.now();
    next.resolve(client);
    return client;
  }

  function lost(client: Client): void {
    if (closed || live !== client) return;
    runtime.log("warn", "proxy.lost", { server: name });
    live = undefined;
    // One that falls over right after its start is no better than one that does not start.
    if (runtime.now() - connectedAt > capMs) failures = 0;
    next = Promise.withResolvers();
    again();
  }

  function again(): void {
    const delay = retryDelayMs(failures++, {}, { runtime, capMs });
    cancelRetry = runtime.schedule(delay, () => {
      connect().then(
        () => runtime.log("info", "proxy.connected", { server: name }),
        (cause: unknown) => {
          runtime.log("warn", "proxy.connect_failed", { server: name, cause: String(cause) });
          if (!closed) again();
        },
      );
    });
  }

  return {
    open: connect,
    async client(cancel) {
      if (live !== undefined) return live;
      const waited = await withDeadline({ runtime, ms: patienceMs, cancel }, () => next.promise);
      return waited.ok ? waited.value : undefined;
    },
    renew(client) {
      lost(client);
      void client.close();
    },
    async close() {
      closed = true;
      cancelRetry();
      await live?.close();
    },
  };
}

/** The library would run a wrapped server's patterns by an engine that they can stop. */
const outputValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const check = checkOf(schema);
    return (input) => {
      const checked = check(input);
      return checked.ok
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: checked.fault };
    };
  },
};

/** What its own server says of its answers is not more than a hint, so one that cannot be checked passes. */
function checkOf(schema: JsonSchemaType): CheckValue {
  try {
    return compileSchema({ ...schema });
  } catch {
    return () => ({ ok: true });
  }
}

/** Notifications are handed out in a microtask of their own, so answers have to take the same way. */
function keepOrder(transport: Transport | undefined): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) receive(message, extra);
    else queueMicrotask(() => receive(message, extra));
  };
}
