import { serve } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import type { HttpApp } from "./app.ts";

export interface Listener {
  /** `http://<host>:<port>`, with the port that was really bound. */
  readonly url: string;
  close(): Promise<void>;
}

const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 };

/** Serves the app on `host` and `port` (0 takes any free one); rejects when the address is taken. */
export function listen(app: HttpApp, address: { host: string; port: number }): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const server = serve({
      fetch: app.fetch,
      hostname: address.host,
      port: address.port,
      serverOptions: timeouts,
    });
    server.once("error", reject);
    server.once("listening", () => {
      server.removeListener("error", reject);
      resolve({ url: urlOf(address.host, server.address()), close });
    });

    function close(): Promise<void> {
      return new Promise((done) => {
        server.close(() => done());
        // Event streams never end by themselves; whatever answered by now has been answered.
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    }
  });
}

function urlOf(host: string, bound: AddressInfo | string | null): string {
  if (bound === null || typeof bound === "string") throw new Error("not listening on a TCP port");
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound.port}`;
}
