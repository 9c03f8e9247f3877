import { upgradeWebSocket } from "@hono/node-server";
import { limits, refuse, SOCKET_PATH, type Refusal } from "@agent/wire";
import type { Context, Hono } from "hono";
import type { WebSocket } from "ws";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import { takeForClient } from "../http/limits/take-for-client.ts";
import { createRefusalResponse, getRequestId } from "../http/server/refusal-response.ts";
import { mayActFor } from "../identity/caller.ts";
import type { Runtime } from "../runtime.ts";
import {
  openSession,
  type Session,
  type SessionServices,
  type SocketTransport,
} from "./session.ts";

/**
 * Accepts devices' sockets. A token in the upgrade's header is checked before the socket exists;
 * without one the device has 5 s to send it as its first message.
 */
export function mountSockets(
  app: Hono,
  services: SessionServices,
  options: {
    readonly isDraining: () => boolean;
    readonly mayServe: () => boolean;
    readonly clientIp: (context: Context) => string;
    readonly limiter: RateLimiter;
  },
): void {
  app.get(
    SOCKET_PATH,
    async (c, next) => {
      const refusal = await checkUpgrade(c);
      if (refusal === undefined) return next();
      return createRefusalResponse(refusal, getRequestId(c, services.runtime));
    },
    upgradeWebSocket((c) => {
      let session: Session | undefined;
      return {
        onOpen(_, { raw }) {
          const socket = raw as WebSocket;
          const agentId = c.req.param("agentId") ?? "";
          session = openSession(
            services,
            agentId,
            toTransport(socket, services.runtime),
            c.req.header("authorization"),
          );
          startPing(socket, services.runtime);
        },
        onMessage({ data }) {
          // A binary frame is not a message of the contract, and is answered like an empty one.
          void session?.message(typeof data === "string" ? data : "");
        },
        onClose: ({ code }) => session?.closed(code),
      };
    }),
  );

  async function checkUpgrade(c: Context): Promise<Refusal | undefined> {
    if (options.isDraining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
    if (!options.mayServe()) return { ...refuse("server.unavailable"), retryAfterSeconds: 2 };
    const tier = { tier: "auth", limit: limits.tiers.auth };
    const taken = takeForClient(options.limiter, tier, options.clientIp(c));
    if (!taken.allowed) {
      return { ...refuse("rate.exceeded"), retryAfterSeconds: taken.retryAfterSeconds };
    }
    const header = c.req.header("authorization");
    if (header === undefined) return undefined;
    const signedIn = await services.authenticate(header);
    if (!signedIn.ok) return signedIn;
    const { caller } = signedIn;
    if (!mayActFor(caller, [c.req.param("agentId") ?? null])) return refuse("auth.not_owner");
    if (caller.kind === "agent" && !caller.scopes.has("socket")) {
      return refuse("auth.scope_missing", "socket");
    }
    return undefined;
  }
}

function toTransport(socket: WebSocket, { schedule }: Pick<Runtime, "schedule">): SocketTransport {
  return {
    send: (text, written) => socket.send(text, () => written?.()),
    close(code, reason) {
      socket.close(code, reason);
      // A client that does not answer the closing frame must not hold the connection.
      const cancel = schedule(limits.socketCloseMs, () => socket.terminate());
      socket.once("close", cancel);
    },
    terminate: () => socket.terminate(),
    backlog: () => socket.bufferedAmount,
  };
}

/** Ends sockets whose other side stopped answering pings. */
function startPing(socket: WebSocket, runtime: Pick<Runtime, "schedule">): void {
  let isAlive = true;
  let cancel = () => {};
  const sendPing = () => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
    cancel = runtime.schedule(limits.socketPingMs, sendPing);
  };
  cancel = runtime.schedule(limits.socketPingMs, sendPing);
  socket.on("pong", () => (isAlive = true));
  socket.on("close", () => cancel());
}
