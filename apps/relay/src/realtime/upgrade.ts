import { upgradeWebSocket } from "@hono/node-server";
import { errorBody, errors, limits, refuse, socketPath, type Refusal } from "@agent/wire";
import type { Context, Hono } from "hono";
import type { WebSocket } from "ws";
import type { RateLimiter } from "../http/rate-limit.ts";
import { actsFor, type Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import { openSession, type Session, type SessionServices } from "./session.ts";

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
  const callers = new WeakMap<Context, Caller>();

  app.get(
    socketPath,
    async (c, next) => {
      const refusal = await admit(c);
      if (refusal === undefined) return next();
      const body = errorBody(refusal, newId(services.runtime));
      return c.json(body, errors[refusal.code].status as 401);
    },
    upgradeWebSocket((c) => {
      let session: Session | undefined;
      return {
        onOpen(_, socket) {
          const raw = socket.raw as WebSocket;
          session = openSession(
            services,
            c.req.param("agentId") ?? "",
            {
              send: (text) => socket.send(text),
              close: (code, reason) => socket.close(code, reason),
              backlog: () => raw.bufferedAmount,
            },
            callers.get(c),
          );
          keepAlive(raw, services);
        },
        onMessage: ({ data }) =>
          session?.message(typeof data === "string" ? data : "").catch(() => undefined),
        onClose: () => session?.closed(),
      };
    }),
  );

  async function admit(c: Context): Promise<Refusal | undefined> {
    if (options.draining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
    const { limiter, clientIp } = options;
    const key = `auth ${clientIp(c)}`;
    const { allowed, retryAfterSeconds } = limiter.take(
      limits.tiers.auth,
      limits.rateWindowMs,
      key,
    );
    if (!allowed) return { ...refuse("rate.exceeded"), retryAfterSeconds };
    const header = c.req.header("authorization");
    if (header === undefined) return undefined;
    const signedIn = await services.authenticate(header);
    if (!signedIn.ok) return signedIn;
    const { caller } = signedIn;
    if (!actsFor(caller, [c.req.param("agentId") ?? null])) return refuse("auth.not_owner");
    if (caller.kind === "agent" && !caller.scopes.has("socket")) {
      return refuse("auth.scope_missing", "socket");
    }
    callers.set(c, caller);
    return undefined;
  }
}

/** Ends sockets whose other side is gone without a word. */
function keepAlive(socket: WebSocket, { runtime }: Pick<SessionServices, "runtime">): void {
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
