import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { findPlace, type Place, type PlaceLimits } from "../policy/find-place.ts";
import type { PlaceHolder } from "../policy/place-holder.ts";
import type { Runtime } from "../runtime.ts";
import type { InFlightRequests } from "./fast-path/in-flight-requests.ts";

export interface Session {
  readonly transport: Pick<
    WebStandardStreamableHTTPServerTransport,
    "handleRequest" | "close" | "sessionId"
  >;
  /** Only the caller that opened a session may use it. */
  readonly holder: PlaceHolder;
  readonly inFlight: InFlightRequests;
  lastUsedAt: number;
  openStreams: number;
}

export interface SessionLimits extends PlaceLimits {
  readonly idleMs: number;
}

/** The open sessions by their ids, within the limits on number and idle time. */
export interface SessionTable {
  get(sessionId: string): Session | undefined;
  set(sessionId: string, session: Session): void;
  delete(sessionId: string): void;
  /** Returns whether this caller may open another session; at a limit an idle one is closed for it. */
  makeRoom(asking: PlaceHolder): boolean;
  close(): Promise<void>;
  readonly size: number;
}

export function createSessionTable(
  { idleMs, ...limits }: SessionLimits,
  runtime: Pick<Runtime, "now" | "schedule" | "log">,
): SessionTable {
  const sessions = new Map<string, Session>();
  let cancelCleanup = runtime.schedule(idleMs / 2, closeIdleSessions);

  function makeRoom(asking: PlaceHolder): boolean {
    const places = [...sessions.values()]
      .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt)
      .map((session) => {
        const use: Place["use"] = session.inFlight.size === 0 ? "held" : "kept";
        return { ...session.holder, session, use };
      });
    const found = findPlace(places, asking, limits);
    // A client opens a session again where it has lost an idle one, so a caller may replace its own.
    const evicted = found.ok
      ? found.evicted
      : places.find(({ caller, use }) => caller === asking.caller && use === "held");
    if (evicted !== undefined) closeSession(evicted.session);
    return found.ok || evicted !== undefined;
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
    makeRoom,
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
