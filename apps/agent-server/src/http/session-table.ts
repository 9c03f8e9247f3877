import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Runtime } from "../runtime.ts";
import type { InFlightRequests } from "./fast-path/in-flight-requests.ts";

export interface Session {
  readonly transport: Pick<
    WebStandardStreamableHTTPServerTransport,
    "handleRequest" | "close" | "sessionId"
  >;
  /** Only the caller that opened a session may use it. */
  readonly callerKey: string;
  readonly inFlight: InFlightRequests;
  lastUsedAt: number;
  openStreams: number;
}

export interface SessionLimits {
  readonly idleMs: number;
  readonly max: number;
  readonly maxPerCaller: number;
}

/** The open sessions by their ids, within the limits on number and idle time. */
export interface SessionTable {
  get(sessionId: string): Session | undefined;
  set(sessionId: string, session: Session): void;
  delete(sessionId: string): void;
  /**
   * Returns whether this caller may open another session; at a limit its oldest idle session is
   * closed.
   */
  makeRoom(callerKey: string): boolean;
  close(): Promise<void>;
  readonly size: number;
}

export function createSessionTable(
  { idleMs, max, maxPerCaller }: SessionLimits,
  runtime: Pick<Runtime, "now" | "schedule" | "log">,
): SessionTable {
  const sessions = new Map<string, Session>();
  let cancelCleanup = runtime.schedule(idleMs / 2, closeIdleSessions);
  const ownedBy = (callerKey: string) =>
    [...sessions.values()].filter((session) => session.callerKey === callerKey);

  function isFull(callerKey: string): boolean {
    return sessions.size >= max || ownedBy(callerKey).length >= maxPerCaller;
  }

  /** Closes the oldest idle session of a caller at the limit, never another caller's. */
  function evictOldestIdle(callerKey: string): boolean {
    const [oldest] = ownedBy(callerKey)
      .filter(({ inFlight }) => inFlight.size === 0)
      .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (oldest === undefined) return false;
    closeSession(oldest);
    return true;
  }

  function closeIdleSessions(): void {
    const limit = runtime.now() - idleMs;
    for (const session of sessions.values()) {
      const busy = session.inFlight.size > 0 || session.openStreams > 0;
      if (!busy && session.lastUsedAt < limit) closeSession(session);
    }
    cancelCleanup = runtime.schedule(idleMs / 2, closeIdleSessions);
  }

  function closeSession(session: Session): void {
    const id = session.transport.sessionId;
    if (id !== undefined) sessions.delete(id);
    session.transport.close().catch((cause: unknown) => {
      runtime.log("warn", "session.close_failed", { cause: String(cause) });
    });
  }

  return {
    get: (sessionId) => sessions.get(sessionId),
    set: (sessionId, session) => void sessions.set(sessionId, session),
    delete: (sessionId) => void sessions.delete(sessionId),
    makeRoom: (callerKey) => !isFull(callerKey) || evictOldestIdle(callerKey),
    async close() {
      cancelCleanup();
      const openSession = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(openSession.map(({ transport }) => transport.close()));
    },
    get size() {
      return sessions.size;
    },
  };
}
