import { limits, refuse, type Refusal } from "@agent/wire";
import type { Handlers } from "../http/handler.ts";
import { operatorCaller } from "../identity/caller.ts";
import type { Services } from "../services.ts";

type SessionHandlers = Pick<
  Handlers,
  | "createSessionCode"
  | "openConsoleSession"
  | "renewConsoleSession"
  | "closeConsoleSession"
  | "listConsoleSessions"
  | "revokeConsoleSession"
>;

/** Browsers accept a cookie of this prefix only over https, for the whole host and from the host itself. */
const COOKIE_NAME = "__Host-agent-console";

export function sessionHandlers({ config, consoleSessions }: Services): SessionHandlers {
  return {
    async createSessionCode({ body }, { caller }) {
      const level = body.level ?? "operate";
      const by = caller.kind === "master" ? caller : operatorCaller;
      const created = await consoleSessions.createCode(by, level);
      return { status: 201, body: { ...created, level } };
    },
    async openConsoleSession({ body }, { caller, clientIp, headers: asked }) {
      const isLocal = isLoopback(clientIp(), asked.get("host") ?? "");
      const isSecure = config.server.baseUrl?.startsWith("https://") === true;
      if (!isLocal && !isSecure) return refuse("session.https_required");
      const isMaster = caller.kind === "master" && caller.session === undefined;
      if (body.code === undefined && !isMaster) return refuse("session.code_invalid");
      const opened =
        body.code === undefined && isMaster
          ? await consoleSessions.openByToken(caller)
          : await consoleSessions.openByCode(body.code ?? "");
      if (!opened.ok) return opened;
      const headers = { "set-cookie": formatCookie(opened.cookie, limits.sessionMs / 1_000) };
      return { status: 201, body: opened.session, headers };
    },
    async renewConsoleSession(_, { headers }) {
      const cookie = readCookie(headers);
      if (typeof cookie !== "string") return cookie;
      const renewed = await consoleSessions.renew(cookie);
      if (!renewed.ok) return renewed;
      const { ok: _ok, ...session } = renewed;
      return { status: 200, body: session };
    },
    async closeConsoleSession(_, { headers }) {
      const cookie = readCookie(headers);
      if (typeof cookie !== "string") return cookie;
      const session = await consoleSessions.findByCookie(cookie);
      if (session === undefined) return refuse("session.ended");
      const { session_id } = session;
      await consoleSessions.end(session_id);
      return { status: 200, body: { session_id }, headers: { "set-cookie": formatCookie("", 0) } };
    },
    async listConsoleSessions() {
      const sessions = (await consoleSessions.list()).map((row) => ({
        session_id: row.session_id,
        level: consoleSessions.levelOf(row),
        opened_by: row.opened_by,
        opened_at: row.opened_at,
        renewed_at: row.renewed_at,
        expires_at: row.expires_at,
      }));
      return { status: 200, body: { sessions, next_cursor: null } };
    },
    async revokeConsoleSession({ params }) {
      const { sessionId: session_id } = params;
      return (await consoleSessions.end(session_id))
        ? { status: 200, body: { session_id } }
        : refuse("session.not_found");
    },
  };
}

/**
 * Over plain HTTP the cookie and the bearer token could be intercepted, except on the machine itself. A
 * proxy on that machine also has a loopback address, but passes on the name that its client requested.
 */
function isLoopback(clientIp: string, host: string): boolean {
  const isOwnAddress = clientIp.startsWith("127.") || clientIp === "::1";
  return isOwnAddress && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

function formatCookie(value: string, maxAge: number): string {
  return `${COOKIE_NAME}=${value}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=${maxAge}`;
}

/** Returns the cookie of a request that the console's own page has sent: no other one can set both headers. */
function readCookie(headers: Headers): string | Refusal<"session.cross_site" | "session.ended"> {
  const isOwnPage =
    headers.get("sec-fetch-site") === "same-origin" && headers.get("x-agent-console") === "1";
  if (!isOwnPage) return refuse("session.cross_site");
  for (const part of (headers.get("cookie") ?? "").split(";")) {
    const [name, value] = part.trim().split("=");
    if (name === COOKIE_NAME && value !== undefined && value !== "") return value;
  }
  return refuse("session.ended");
}
