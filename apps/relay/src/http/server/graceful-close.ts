import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";

const CLOSE_IDLE_INTERVAL_MS = 50;

/** The part of a WebSocket server that is needed here. */
interface Sockets {
  readonly clients: Iterable<{ terminate(): void }>;
  on(event: "connection", opened: (socket: unknown, request: IncomingMessage) => void): unknown;
}

/**
 * Closes a server. Requests in progress may finish within `graceMs`; nothing else keeps it open. After
 * `released` resolves, when all devices are notified, they have a short time to answer the closing of their
 * sockets.
 */
export function createGracefulClose(
  server: Server,
  sockets: Sockets,
  { schedule }: Pick<Runtime, "schedule">,
): (graceMs: number, released: Promise<void>) => Promise<void> {
  const silent = trackSilentConnections(server, sockets);
  return async (graceMs, released) => {
    const closed = new Promise((done) => server.close(done));
    server.prependListener("request", (_: IncomingMessage, answer: ServerResponse) => {
      answer.shouldKeepAlive = false;
    });
    for (const socket of silent) socket.destroy();
    let cancelIdle = () => {};
    const closeIdle = () => {
      server.closeIdleConnections();
      cancelIdle = schedule(CLOSE_IDLE_INTERVAL_MS, closeIdle);
    };
    closeIdle();
    const terminateSockets = () => {
      for (const socket of sockets.clients) socket.terminate();
    };
    let cancelSockets = () => {};
    void released.then(() => {
      cancelSockets = schedule(Math.min(graceMs, limits.socketCloseMs), terminateSockets);
    });
    const cancelAll = schedule(graceMs, () => {
      terminateSockets();
      server.closeAllConnections();
    });
    await closed;
    cancelSockets();
    for (const cancel of [cancelIdle, cancelAll]) cancel();
  };
}

/** Tracks connections without a request yet, which Node does not count as idle. */
function trackSilentConnections(server: Server, sockets: Sockets): Iterable<Socket> {
  const silent = new Set<Socket>();
  const markActive = ({ socket }: IncomingMessage) => void silent.delete(socket);
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", markActive);
  // A listener for "upgrade" beside the adapter's own would keep it from refusing any.
  sockets.on("connection", (_, request) => markActive(request));
  return silent;
}
