import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:http";
import { serve as serveHono, type WebSocketServerLike } from "@hono/node-server";
import { limits } from "@agent/wire";
import { WebSocketServer } from "ws";
import type { OpenRelay } from "./open-relay.ts";
import type { Runtime } from "./runtime.ts";

export interface Serving {
  readonly host: string;
  readonly port: number;
  /** Stops taking requests, lets the running ones finish for up to `graceMs`, then closes. */
  stop(graceMs: number): Promise<void>;
}

const tickMs = 1_000;

/** Listens for HTTP and WebSocket, and runs the background jobs. */
export async function serve(
  relay: OpenRelay,
  runtime: Pick<Runtime, "schedule">,
  address: { readonly host: string; readonly port: number },
): Promise<Serving> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketFrameBytes });
  let server: Server | undefined;
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  server = serveHono(
    {
      fetch: relay.fetch,
      createServer,
      hostname: address.host,
      port: address.port,
      serverOptions: { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 },
      websocket: { server: sockets as unknown as WebSocketServerLike },
    },
    resolve,
  ) as Server;
  server.once("error", reject);
  const { port } = await promise;

  let cancelTick = () => {};
  const tick = async () => {
    await relay.tick();
    cancelTick = runtime.schedule(tickMs, () => void tick());
  };
  await tick();

  return {
    host: address.host,
    port,
    async stop(graceMs) {
      cancelTick();
      relay.drain();
      const closed = new Promise((done) => server.close(done));
      server.closeIdleConnections();
      const cancel = runtime.schedule(graceMs, () => {
        server.closeAllConnections();
        // An upgraded connection is no longer the server's, which waits for it all the same.
        for (const socket of sockets.clients) socket.terminate();
      });
      await closed;
      cancel();
      await relay.close();
    },
  };
}
