import { createRedactor } from "@agent/wire";
import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { withDeadline } from "../execution/deadline.ts";
import { retryDelayMs } from "../relay/retry-delay.ts";
import type { Runtime } from "../runtime.ts";
import { compileSchema, type CheckValue } from "../tools/calling/compile-schema.ts";
import { createTransport, type ServerAddress } from "./transport.ts";

/** A connection to another MCP server that is made again whenever it is lost. */
export interface Connection {
  /** The first attempt, with the server's tools; rejects when it fails, and then nothing is tried again. */
  open(): Promise<readonly Tool[]>;
  /** The client in use, or the next one: waits a moment for a connection that is being made again. */
  getClient(signal: AbortSignal): Promise<Client | undefined>;
  /** Gives up `client`, whose session the server has forgotten. */
  reconnect(client: Client): void;
  close(): Promise<void>;
}

/** A first start may have to download and install the server, as `npx` does. */
const FIRST_START_TIMEOUT_MS = 180_000;
/** After which the owner is told what the start is waiting for. */
const WAITING_LOG_DELAY_MS = 2_000;
const CONNECT_TIMEOUT_MS = 60_000;
/** What a fault shows of a server's standard error: its end, where the reason usually is. */
const MAX_SHOWN_STDERR_CHARACTERS = 1_000;
/** A server of the older era may never answer the question which era it speaks. */
const PROBE_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 10_000;
const MAX_RETRY_DELAY_MS = 30_000;

export function createConnection(options: {
  name: string;
  address: ServerAddress;
  version: string;
  /** Told of the server's tools after each connection but the first, and whenever they change. */
  onTools?: (tools: readonly Tool[]) => void;
  runtime: Runtime;
}): Connection {
  const { name, address, onTools = () => {}, runtime } = options;
  const info = { name: "agent-server", version: options.version };
  let nextClient = Promise.withResolvers<Client>();
  let activeClient: Client | undefined;
  let connectedAt = 0;
  let failures = 0;
  let closed = false;
  let hasConnected = false;
  let cancelRetry = () => {};

  /** The first start: longer than any later one, with word of what it waits for and why it failed. */
  async function open(): Promise<readonly Tool[]> {
    const cancel = runtime.schedule(WAITING_LOG_DELAY_MS, () => {
      const waiting = {
        server: name,
        for: describeAddress(address),
        at_most_ms: FIRST_START_TIMEOUT_MS,
      };
      runtime.log("info", "proxy.waiting", waiting);
    });
    let stderr = "";
    const collect = (text: string) => {
      stderr = (stderr + text).slice(-MAX_SHOWN_STDERR_CHARACTERS);
    };
    const failed = (what: string) => (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const redactedStderr = createRedactor(listAddressSecrets(address))(stderr)
        .trim()
        .replace(/\s*\n\s*/g, " | ");
      const message =
        redactedStderr === "" ? reason : `${reason}; its standard error: ${redactedStderr}`;
      throw new Error(`${what}: ${message}`, { cause });
    };
    try {
      const client = await connect(FIRST_START_TIMEOUT_MS, collect).catch(
        failed("cannot be reached"),
      );
      const listed = await client.listTools().catch(failed("does not list its tools"));
      return listed.tools;
    } finally {
      cancel();
    }
  }

  async function connect(
    timeout = CONNECT_TIMEOUT_MS,
    onStderr: (text: string) => void = () => {},
  ): Promise<Client> {
    // Nobody sits in front of an agent: no sampling, no elicitation, no roots.
    const client = new Client(info, {
      capabilities: {},
      jsonSchemaValidator: outputValidator,
      listChanged: { tools: { autoRefresh: true, debounceMs: 0, onChanged: handleToolsChanged } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_TIMEOUT_MS } },
    });
    await client.connect(createTransport(name, address, runtime, onStderr), { timeout });
    if (closed) {
      await client.close();
      throw new Error("the agent stopped");
    }
    preserveMessageOrder(client.transport);
    // A server may come back as another one: nothing is called before its tools were looked at.
    if (hasConnected) onTools((await client.listTools()).tools);
    hasConnected = true;
    client.onclose = () => handleLostClient(client);
    activeClient = client;
    connectedAt = runtime.now();
    nextClient.resolve(client);
    return client;
  }

  function handleToolsChanged(error: Error | null, tools: readonly Tool[] | null): void {
    if (tools !== null) onTools(tools);
    else runtime.log("warn", "proxy.tools_unknown", { server: name, cause: String(error) });
  }

  function handleLostClient(client: Client): void {
    if (closed || activeClient !== client) return;
    runtime.log("warn", "proxy.lost", { server: name });
    activeClient = undefined;
    // One that falls over right after its start is no better than one that does not start.
    if (runtime.now() - connectedAt > MAX_RETRY_DELAY_MS) failures = 0;
    nextClient = Promise.withResolvers();
    scheduleReconnect();
  }

  function scheduleReconnect(): void {
    const delay = retryDelayMs(failures++, {}, { runtime, capMs: MAX_RETRY_DELAY_MS });
    cancelRetry = runtime.schedule(delay, () => {
      connect().then(
        () => runtime.log("info", "proxy.connected", { server: name }),
        (cause: unknown) => {
          runtime.log("warn", "proxy.connect_failed", { server: name, cause: String(cause) });
          if (!closed) scheduleReconnect();
        },
      );
    });
  }

  return {
    open,
    async getClient(cancel) {
      if (activeClient !== undefined) return activeClient;
      const waited = await withDeadline(
        { runtime, ms: RECONNECT_WAIT_MS, cancel },
        () => nextClient.promise,
      );
      return waited.ok ? waited.value : undefined;
    },
    reconnect(client) {
      handleLostClient(client);
      void client.close();
    },
    async close() {
      closed = true;
      cancelRetry();
      await activeClient?.close();
    },
  };
}

/** Without arguments, which may hold a token. */
function describeAddress(address: ServerAddress): string {
  return "url" in address ? address.url : address.command;
}

function listAddressSecrets(address: ServerAddress): readonly string[] {
  return Object.values("url" in address ? address.headers : address.env);
}

/** The library would run a wrapped server's patterns by an engine that they can stop. */
const outputValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const check = compileOutputCheck(schema);
    return (input) => {
      const checked = check(input);
      return checked.ok
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: checked.fault };
    };
  },
};

/** What its own server says of its answers is not more than a hint, so one that cannot be checked passes. */
function compileOutputCheck(schema: JsonSchemaType): CheckValue {
  try {
    return compileSchema({ ...schema });
  } catch {
    return () => ({ ok: true });
  }
}

/** Notifications are handed out in a microtask of their own, so answers have to take the same way. */
function preserveMessageOrder(transport: Transport | undefined): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) receive(message, extra);
    else queueMicrotask(() => receive(message, extra));
  };
}
