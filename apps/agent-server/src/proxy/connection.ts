import type { Client, Tool, Transport } from "@modelcontextprotocol/client";
import { withDeadline } from "../execution/deadline.ts";
import { retryDelayMs } from "../relay/retry-delay.ts";
import type { Runtime } from "../runtime.ts";
import { startFirst } from "./first-start.ts";
import { newClient } from "./new-client.ts";
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

const CONNECT_TIMEOUT_MS = 60_000;
const RECONNECT_WAIT_MS = 10_000;
const MAX_RETRY_DELAY_MS = 30_000;

export interface ConnectionOptions {
  readonly name: string;
  readonly address: ServerAddress;
  readonly version: string;
  /** Told of the server's tools after each connection but the first, and whenever they change. */
  readonly onTools?: (tools: readonly Tool[]) => void;
  readonly runtime: Runtime;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { name, address, onTools = () => {}, runtime } = options;
  let nextClient = Promise.withResolvers<Client>();
  let activeClient: Client | undefined;
  let connectedAt = 0;
  let failures = 0;
  let closed = false;
  let hasConnected = false;
  let cancelRetry = () => {};

  async function connect(
    timeout = CONNECT_TIMEOUT_MS,
    onStderr: (text: string) => void = () => {},
  ): Promise<Client> {
    const client = newClient(options.version, handleToolsChanged);
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
    open: () => startFirst({ name, address }, connect, runtime),
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

/** Notifications are handed out in a microtask of their own, so answers have to take the same way. */
function preserveMessageOrder(transport: Transport | undefined): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) receive(message, extra);
    else queueMicrotask(() => receive(message, extra));
  };
}
