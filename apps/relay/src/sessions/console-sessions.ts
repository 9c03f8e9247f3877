import { BoundedMap, sha256Hex, toBase64Url } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import { insertOperatorAct } from "../audit/operator-acts.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import type { OperatorCaller } from "../identity/caller.ts";
import {
  mintSessionToken,
  verifySessionToken,
  type SessionTokenVerifier,
} from "../identity/session-token.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { ConsoleSessionRow } from "../storage/tables/operator.ts";
import {
  deleteExcessSessions,
  deleteSession,
  findSession,
  findSessionByCookie,
  insertCode,
  insertSession,
  listSessions,
  purgeSessions,
  renewSession,
  takeCode,
} from "./session-store.ts";

type Level = "view" | "operate";

/** A bearer for the page of a session. */
export interface SessionToken {
  readonly session_id: string;
  readonly level: Level;
  readonly operate_until: number | null;
  readonly token: string;
  readonly expires_at: number;
}

interface OpenedSession {
  readonly ok: true;
  readonly session: SessionToken;
  /** 256 random bits, of which only the hash is stored. */
  readonly cookie: string;
}

/** The sessions of the operator's pages: opened by a code or the master token, kept by a cookie. */
export interface ConsoleSessions extends SessionTokenVerifier {
  createCode(by: OperatorCaller, level: Level): Promise<{ code: string; expires_at: number }>;
  openByCode(code: string): Promise<OpenedSession | Refusal<"session.code_invalid">>;
  openByToken(by: OperatorCaller): Promise<OpenedSession>;
  renew(cookie: string): Promise<({ readonly ok: true } & SessionToken) | Refusal<"session.ended">>;
  findByCookie(cookie: string): Promise<ConsoleSessionRow | undefined>;
  list(): Promise<ConsoleSessionRow[]>;
  /** Ends a session and its streams; false when there is none. */
  end(sessionId: string): Promise<boolean>;
  levelOf(session: ConsoleSessionRow): Level;
}

type SessionDependencies = Pick<
  Services,
  "storage" | "freezer" | "runtime" | "identity" | "operatorTokens"
>;

/** The token that a session goes back to, and its level. */
interface Opener {
  readonly opened_by: string;
  readonly token_tag: string;
  readonly level: Level;
}

const MAX_KNOWN_SESSIONS = 1_000;

export function createConsoleSessions({
  storage,
  freezer,
  runtime,
  identity,
  operatorTokens,
}: SessionDependencies): ConsoleSessions {
  /** Ends what a session opened at this process, such as streams. */
  const endings = new BoundedMap<string, AbortController>(MAX_KNOWN_SESSIONS);

  /** A session ends with its time, with its page, and with the token that it goes back to. */
  function isAlive({ expires_at, renewed_at, token_tag }: ConsoleSessionRow): boolean {
    const now = runtime.now();
    const isIdle = now - renewed_at >= limits.sessionIdleMs;
    return now < expires_at && !isIdle && operatorTokens.hasTag(token_tag);
  }

  const levelOf = ({ operate_until }: ConsoleSessionRow): Level =>
    operate_until !== null && runtime.now() < operate_until ? "operate" : "view";

  function toToken(row: ConsoleSessionRow): SessionToken {
    const now = runtime.now();
    const level = levelOf(row);
    const ends = level === "operate" ? (row.operate_until ?? now) : row.expires_at;
    // A token states whole seconds, and must not outlive its right to act.
    const lasts = Math.min(now + limits.tokenLifetimeMs, row.expires_at, ends);
    const expires_at = Math.floor(lasts / 1_000) * 1_000;
    const { session_id, operate_until } = row;
    const claims = { sessionId: session_id, level, expiresAt: expires_at };
    const token = mintSessionToken(identity, claims, now);
    return { session_id, level, operate_until, token, expires_at };
  }

  /** Builds a session with its cookie; the caller stores it. */
  function createSession({ opened_by, token_tag, level }: Opener) {
    const now = runtime.now();
    const cookie = toBase64Url(runtime.randomBytes(32));
    const row: ConsoleSessionRow = {
      session_id: newId(runtime),
      cookie_hash: sha256Hex(cookie),
      opened_by,
      token_tag,
      opened_at: now,
      renewed_at: now,
      operate_until: level === "operate" ? now + limits.sessionOperateMs : null,
      expires_at: now + limits.sessionMs,
    };
    return { row, cookie };
  }

  async function open(
    findOpener: (tx: Parameters<typeof takeCode>[0]) => Promise<Opener | undefined>,
  ): Promise<OpenedSession | Refusal<"session.code_invalid">> {
    const opened = await freezer.writeAlways(async (tx) => {
      const now = runtime.now();
      const opener = await findOpener(tx);
      if (opener === undefined) return undefined;
      await purgeSessions(tx, { now, idle: now - limits.sessionIdleMs });
      await deleteExcessSessions(tx, limits.sessions - 1);
      const created = createSession(opener);
      await insertSession(tx, created.row);
      const { session_id } = created.row;
      const { opened_by: actor, level } = opener;
      const act = { actor, action: "openConsoleSession", detail: { session_id, level } };
      await insertOperatorAct(tx, now, act, "201");
      await recordRelayEvent(tx, { at: now, type: "session.opened", session_id, level });
      return created;
    });
    if (opened === undefined) return refuse("session.code_invalid");
    return { ok: true, session: toToken(opened.row), cookie: opened.cookie };
  }

  return {
    levelOf,
    async createCode({ name, tokenTag }, level) {
      const code = toBase64Url(runtime.randomBytes(16));
      const expires_at = runtime.now() + limits.sessionCodeMs;
      const row = {
        code_hash: sha256Hex(code),
        level,
        created_by: name,
        token_tag: tokenTag,
        expires_at,
      };
      await freezer.writeAlways((tx) => insertCode(tx, row));
      return { code, expires_at };
    },
    openByCode: (code) =>
      open(async (tx) => {
        const row = await takeCode(tx, sha256Hex(code));
        const isValid =
          row !== undefined &&
          runtime.now() < row.expires_at &&
          operatorTokens.hasTag(row.token_tag);
        if (!isValid) return undefined;
        return { opened_by: row.created_by, token_tag: row.token_tag, level: row.level };
      }),
    async openByToken({ name, tokenTag }) {
      const opened = await open(async () => ({
        opened_by: name,
        token_tag: tokenTag,
        level: "operate",
      }));
      if (!opened.ok) throw new Error(`a session was refused: ${opened.code}`);
      return opened;
    },
    async renew(cookie) {
      const row = await findSessionByCookie(storage.read, sha256Hex(cookie));
      if (row === undefined || !isAlive(row)) return refuse("session.ended");
      const now = runtime.now();
      const renewed = await freezer.writeAlways((tx) => renewSession(tx, row.session_id, now));
      return renewed ? { ok: true, ...toToken(row) } : refuse("session.ended");
    },
    async findByCookie(cookie) {
      const row = await findSessionByCookie(storage.read, sha256Hex(cookie));
      return row !== undefined && isAlive(row) ? row : undefined;
    },
    list: async () => (await listSessions(storage.read)).filter(isAlive),
    async end(sessionId) {
      const ended = await freezer.writeAlways(async (tx) => {
        if (!(await deleteSession(tx, sessionId))) return false;
        const at = runtime.now();
        await recordRelayEvent(tx, { at, type: "session.ended", session_id: sessionId });
        return true;
      });
      endings.get(sessionId)?.abort();
      endings.delete(sessionId);
      return ended;
    },
    async verify(token) {
      const checked = verifySessionToken(token, identity, runtime.now());
      if (!checked.ok) return checked;
      const { sessionId, level, expiresAt } = checked;
      const row = await findSession(storage.read, sessionId);
      if (row === undefined || !isAlive(row)) return refuse("auth.token_revoked");
      const ending = endings.get(sessionId) ?? new AbortController();
      void endings.set(sessionId, ending);
      const current = level === "operate" ? levelOf(row) : "view";
      return {
        ok: true,
        caller: {
          kind: "master",
          name: `session:${sessionId}`,
          tokenTag: row.token_tag,
          removed: ending.signal,
          session: { id: sessionId, level: current, expiresAt },
        },
      };
    },
  };
}
