import type { Client, Tool, Transport } from "@modelcontextprotocol/client";
import { withDeadline } from "../execution/deadline.ts";
import { retryDelayMs } from "../relay/retry-delay.ts";
import type { Runtime } from "../runtime.ts";
import { startFirst } from "./first-start.ts";
import { newClient } from "./new-client.ts";
import { createTransport, type ServerAddress } from "./transport.ts";

/** A connection to another MCP server that is restored whenever it is lost. */
export interface Connection {
  /**
   * Connects for the first time and lists the server's tools; rejects without a retry when that
   * fails.
   */
  open(): Promise<readonly Tool[]>;
  /** Returns the active client, or waits for one while the connection is being restored. */
  getClient(signal: AbortSignal): Promise<Client | undefined>;
  /** Drops `client`, whose session the server no longer knows. */
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
  /** Receives the server's tools after each reconnection and whenever they change. */
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
    // The server may have changed while it was away, so its tools are checked before any call.
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
    // A server that stops right after its start counts as one that does not start.
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

/** Delivers answers in a microtask, as the library does with notifications, to keep their order. */
function preserveMessageOrder(transport: Transport | undefined): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) receive(message, extra);
    else queueMicrotask(() => receive(message, extra));
  };
}
