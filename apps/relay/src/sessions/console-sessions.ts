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
import type { Tx } from "../storage/storage.ts";
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
  /** Ends the streams of this process of a session that has ended. */
  endStreams(sessionId: string): void;
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

export function createConsoleSessions(services: SessionDependencies): ConsoleSessions {
  const { storage, freezer, runtime } = services;
  /** Ends what a session opened at this process, such as streams. */
  const endings = new BoundedMap<string, AbortController>(MAX_KNOWN_SESSIONS);

  function endStreams(sessionId: string): void {
    endings.get(sessionId)?.abort();
    endings.delete(sessionId);
  }

  async function open(
    findOpener: (tx: Tx) => Promise<Opener | undefined>,
  ): Promise<OpenedSession | undefined> {
    const opened = await openSession(services, findOpener);
    for (const sessionId of opened?.displaced ?? []) endStreams(sessionId);
    return opened && { ok: true, session: toToken(services, opened.row), cookie: opened.cookie };
  }

  return {
    endStreams,
    levelOf: (row) => getLevel(services, row),
    createCode: (by, level) => createCode(services, by, level),
    openByCode: async (code) =>
      (await open((tx) => takeOpener(services, tx, code))) ?? refuse("session.code_invalid"),
    async openByToken({ name, tokenTag }) {
      const opener: Opener = { opened_by: name, token_tag: tokenTag, level: "operate" };
      const opened = await open(async () => opener);
      if (opened === undefined) throw new Error("a session was refused");
      return opened;
    },
    async renew(cookie) {
      const row = await findSessionByCookie(storage.read, sha256Hex(cookie));
      if (row === undefined || !isAlive(services, row)) return refuse("session.ended");
      const now = runtime.now();
      const renewed = await freezer.writeAlways((tx) => renewSession(tx, row.session_id, now));
      return renewed ? { ok: true, ...toToken(services, row) } : refuse("session.ended");
    },
    async findByCookie(cookie) {
      const row = await findSessionByCookie(storage.read, sha256Hex(cookie));
      return row !== undefined && isAlive(services, row) ? row : undefined;
    },
    list: async () => (await listSessions(storage.read)).filter((row) => isAlive(services, row)),
    async end(sessionId) {
      const ended = await freezer.writeAlways(async (tx) => {
        if (!(await deleteSession(tx, sessionId))) return false;
        await recordEnd(tx, sessionId, runtime.now());
        return true;
      });
      endStreams(sessionId);
      return ended;
    },
    async verify(token) {
      const checked = await verifyToken(services, token);
      if (!checked.ok) return checked;
      const { tokenTag, session } = checked.caller;
      const removal = services.operatorTokens.removalOf(tokenTag);
      if (removal === undefined) return refuse("auth.token_revoked");
      const { id } = session;
      const ending = endings.get(id) ?? new AbortController();
      void endings.set(id, ending);
      return {
        ok: true,
        caller: { ...checked.caller, removed: AbortSignal.any([ending.signal, removal]) },
      };
    },
  };
}

/** A session ends with its time, with its page, and with the token that it goes back to. */
function isAlive(
  { runtime, operatorTokens }: SessionDependencies,
  { expires_at, renewed_at, token_tag }: ConsoleSessionRow,
): boolean {
  const now = runtime.now();
  const isIdle = now - renewed_at >= limits.sessionIdleMs;
  return now < expires_at && !isIdle && operatorTokens.removalOf(token_tag) !== undefined;
}

function getLevel({ runtime }: SessionDependencies, { operate_until }: ConsoleSessionRow): Level {
  return operate_until !== null && runtime.now() < operate_until ? "operate" : "view";
}

function toToken(services: SessionDependencies, row: ConsoleSessionRow): SessionToken {
  const now = services.runtime.now();
  const level = getLevel(services, row);
  const ends = level === "operate" ? (row.operate_until ?? now) : row.expires_at;
  // A token states whole seconds, and must not outlive its right to act.
  const lasts = Math.min(now + limits.tokenLifetimeMs, row.expires_at, ends);
  const expires_at = Math.floor(lasts / 1_000) * 1_000;
  const { session_id, operate_until } = row;
  const claims = { sessionId: session_id, level, expiresAt: expires_at };
  const token = mintSessionToken(services.identity, claims, now);
  return { session_id, level, operate_until, token, expires_at };
}

async function createCode(
  { freezer, runtime }: SessionDependencies,
  { name, tokenTag }: OperatorCaller,
  level: Level,
): Promise<{ code: string; expires_at: number }> {
  const code = toBase64Url(runtime.randomBytes(16));
  const expires_at = runtime.now() + limits.sessionCodeMs;
  const owner = { created_by: name, token_tag: tokenTag };
  const row = { code_hash: sha256Hex(code), level, ...owner, expires_at };
  await freezer.writeAlways((tx) => insertCode(tx, row));
  return { code, expires_at };
}

/** Takes a code, so that it works once; undefined if it is not valid now. */
async function takeOpener(
  { runtime, operatorTokens }: SessionDependencies,
  tx: Tx,
  code: string,
): Promise<Opener | undefined> {
  const row = await takeCode(tx, sha256Hex(code));
  if (row === undefined || runtime.now() >= row.expires_at) return undefined;
  if (operatorTokens.removalOf(row.token_tag) === undefined) return undefined;
  return { opened_by: row.created_by, token_tag: row.token_tag, level: row.level };
}

interface CreatedSession {
  readonly row: ConsoleSessionRow;
  readonly cookie: string;
}

/** Stores a session and ends those beyond the limit; undefined if `findOpener` finds no right to open one. */
function openSession(
  services: SessionDependencies,
  findOpener: (tx: Tx) => Promise<Opener | undefined>,
): Promise<(CreatedSession & { readonly displaced: readonly string[] }) | undefined> {
  return services.freezer.writeAlways(async (tx) => {
    const now = services.runtime.now();
    const opener = await findOpener(tx);
    if (opener === undefined) return undefined;
    await purgeSessions(tx, { now, idle: now - limits.sessionIdleMs });
    const displaced = await deleteExcessSessions(tx, limits.sessions - 1);
    for (const sessionId of displaced) await recordEnd(tx, sessionId, now);
    const created = createSession(services, opener);
    await insertSession(tx, created.row);
    const { session_id } = created.row;
    const { opened_by: actor, level } = opener;
    const act = { actor, action: "openConsoleSession", detail: { session_id, level } };
    await insertOperatorAct(tx, now, act, "201");
    await recordRelayEvent(tx, { at: now, type: "session.opened" }, { session_id, level });
    return { ...created, displaced };
  });
}

/** Tells the pages, and the processes that serve its streams, that a session has ended. */
async function recordEnd(tx: Tx, session_id: string, at: number): Promise<void> {
  await recordRelayEvent(tx, { at, type: "session.ended" }, { session_id });
  tx.noteChange("session", session_id);
}

/** Builds a session with its cookie; the caller stores it. */
function createSession(
  { runtime }: SessionDependencies,
  { opened_by, token_tag, level }: Opener,
): CreatedSession {
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

async function verifyToken(services: SessionDependencies, token: string) {
  const { identity, runtime, storage } = services;
  const checked = verifySessionToken(token, identity, runtime.now());
  if (!checked.ok) return checked;
  const { sessionId, level, expiresAt } = checked;
  const row = await findSession(storage.read, sessionId);
  if (row === undefined || !isAlive(services, row)) return refuse("auth.token_revoked");
  const current = level === "operate" ? getLevel(services, row) : "view";
  const session = { id: sessionId, level: current, expiresAt };
  const name = `session:${sessionId}`;
  return {
    ok: true as const,
    caller: { kind: "master" as const, name, tokenTag: row.token_tag, session },
  };
}
