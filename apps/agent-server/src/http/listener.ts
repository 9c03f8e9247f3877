import { getRequestListener } from "@hono/node-server";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Runtime } from "../runtime.ts";
import type { HttpApp } from "./app.ts";
import type { FastPath } from "./fast-path/fast-path.ts";

export interface Listener {
  /** `http://<host>:<port>`, with the port that was bound. */
  readonly url: string;
  /** Stops listening, gives running calls `graceMs` to be answered, then closes all connections. */
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * The time limits of a client in milliseconds; by default Node checks them only every 30 seconds.
 */
export const SERVER_TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
};

/**
 * Serves the app on `host` and `port` (0 binds any free port); rejects when the address is in use.
 */
export async function startListener(
  app: {
    readonly fetch: HttpApp["fetch"];
    readonly fastPath?: FastPath;
  },
  address: { host: string; port: number },
  runtime: Pick<Runtime, "log" | "schedule">,
  timeouts: typeof SERVER_TIMEOUTS = SERVER_TIMEOUTS,
): Promise<Listener> {
  const { fetch, fastPath = async () => false } = app;
  // Duplicate Host or Authorization headers are joined into one invalid value, instead of using the
  // first.
  const options = { ...timeouts, joinDuplicateHeaders: true };
  const respond = getRequestListener(fetch, { hostname: address.host });
  const server = createServer(options, (request, response) => {
    fastPath(request, response)
      .then((answered) => (answered ? undefined : respond(request, response)))
      .catch((cause: unknown) => {
        runtime.log("error", "http.failed", { cause: String(cause) });
        response.destroy();
      });
  });
  server.listen(address.port, address.host);
  const runningCalls = trackRunningCalls(server);
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
  return {
    url: buildUrl(address.host, server.address()),
    async close(graceMs) {
      const closed = new Promise((done) => server.close(done));
      // A client with a persistent connection would otherwise send calls until it is cut off during
      // one.
      server.prependListener("request", (_, response) => {
        response.shouldKeepAlive = false;
      });
      server.closeIdleConnections();
      const cancel = runtime.schedule(graceMs, () => server.closeAllConnections());
      await runningCalls.ended();
      cancel();
      // Event streams do not end by themselves.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Tracks the POST requests. A GET may be an endless stream. */
function trackRunningCalls(server: Server): { ended: () => Promise<void> } {
  let running = 0;
  let onEnd = () => {};
  server.on("request", (request, response) => {
    if (request.method !== "POST") return;
    running += 1;
    response.on("close", () => {
      running -= 1;
      if (running === 0) onEnd();
    });
  });
  return {
    ended: () =>
      new Promise((resolve) => {
        if (running === 0) resolve();
        else onEnd = resolve;
      }),
  };
}

function buildUrl(host: string, bound: AddressInfo | string | null): string {
  if (bound === null || typeof bound === "string") throw new Error("not listening on a TCP port");
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound.port}`;
}
