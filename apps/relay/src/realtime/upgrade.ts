import { upgradeWebSocket } from "@hono/node-server";
import { limits, refuse, socketPath, type Refusal } from "@agent/wire";
import type { Context, Hono } from "hono";
import type { WebSocket } from "ws";
import type { RateLimiter } from "../http/rate-limit.ts";
import { refusalResponse, requestIdOf } from "../http/refusal-response.ts";
import { actsFor } from "../identity/caller.ts";
import type { Runtime } from "../runtime.ts";
import { openSession, type Session, type SessionServices, type Wire } from "./session.ts";

/**
 * Lets devices connect. A token in the upgrade's header is judged before the socket exists; without
 * one the device has 5 s to send it as its first message.
 */
export function mountSockets(
  app: Hono,
  services: SessionServices,
  options: {
    readonly draining: () => boolean;
    readonly clientIp: (context: Context) => string;
    readonly limiter: RateLimiter;
  },
): void {
  app.get(
    socketPath,
    async (c, next) => {
      const refusal = await admit(c);
      if (refusal === undefined) return next();
      return refusalResponse(refusal, requestIdOf(c, services.runtime));
    },
    upgradeWebSocket((c) => {
      let session: Session | undefined;
      return {
        onOpen(_, { raw }) {
          const socket = raw as WebSocket;
          const agentId = c.req.param("agentId") ?? "";
          session = openSession(services, agentId, wireOf(socket), c.req.header("authorization"));
          keepAlive(socket, services.runtime);
        },
        onMessage({ data }) {
          // A binary frame is no message of the contract, and is answered like an empty one.
          void session?.message(typeof data === "string" ? data : "");
        },
        onClose: () => session?.closed(),
      };
    }),
  );

  async function admit(c: Context): Promise<Refusal | undefined> {
    if (options.draining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
    const key = `auth ${options.clientIp(c)}`;
    const taken = options.limiter.take(limits.tiers.auth, limits.rateWindowMs, key);
    if (!taken.allowed) {
      return { ...refuse("rate.exceeded"), retryAfterSeconds: taken.retryAfterSeconds };
    }
    const header = c.req.header("authorization");
    if (header === undefined) return undefined;
    const signedIn = await services.authenticate(header);
    if (!signedIn.ok) return signedIn;
    const { caller } = signedIn;
    if (!actsFor(caller, [c.req.param("agentId") ?? null])) return refuse("auth.not_owner");
    if (caller.kind === "agent" && !caller.scopes.has("socket")) {
      return refuse("auth.scope_missing", "socket");
    }
    return undefined;
  }
}

function wireOf(socket: WebSocket): Wire {
  return {
    send: (text, written) => socket.send(text, () => written?.()),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    backlog: () => socket.bufferedAmount,
  };
}

/** Ends sockets whose other side is gone without a word. */
function keepAlive(socket: WebSocket, runtime: Pick<Runtime, "schedule">): void {
  let answered = true;
  let cancel = () => {};
  const beat = () => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
    cancel = runtime.schedule(limits.socketPingMs, beat);
  };
  cancel = runtime.schedule(limits.socketPingMs, beat);
  socket.on("pong", () => (answered = true));
  socket.on("close", () => cancel());
}
