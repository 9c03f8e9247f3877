import { toBase64Url } from "@agent/crypto";
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type Server,
} from "@modelcontextprotocol/server";
import { callerKey, type Caller } from "../caller.ts";
import { getPlaceHolder, type PlaceHolder } from "../policy/place-holder.ts";
import type { Runtime } from "../runtime.ts";
import {
  listRequestIds,
  createInFlightRequests,
  type RunningCall,
} from "./fast-path/in-flight-requests.ts";
import { createRpcRefusal } from "./refusals.ts";
import { createSessionTable, type Session, type SessionTable } from "./session-table.ts";

export interface SessionRequest {
  readonly caller: Caller;
  readonly authInfo: AuthInfo;
  /** Absent for GET and DELETE. */
  readonly parsedBody?: unknown;
}

export interface Sessions {
  handle(request: Request, options: SessionRequest): Promise<Response>;
  has(sessionId: string): boolean;
  /**
   * Registers a call that bypasses the transport; undefined if the session is not this caller's or
   * already uses the id.
   */
  beginCall(sessionId: string, caller: Caller, id: string | number): RunningCall | undefined;
  close(): Promise<void>;
  readonly size: number;
}

/** Creates the sessions of the older protocol era, identified by their `Mcp-Session-Id`. */
export function createSessions(options: {
  newServer: () => Server;
  runtime: Runtime;
  idleMs?: number;
  perGroup?: number;
  perCaller?: number;
}): Sessions {
  const { runtime, idleMs = 30 * 60_000, perGroup = 1_000, perCaller = 100 } = options;
  const sessions = createSessionTable({ idleMs, perGroup, perCaller }, runtime);

  async function handle(request: Request, given: SessionRequest): Promise<Response> {
    const found = await findOrOpenSession(request, given);
    if (found instanceof Response) return found;
    const { transport, inFlight } = found;
    found.lastUsedAt = runtime.now();

    const ids = listRequestIds(given.parsedBody);
    const repeated = ids.find((id) => inFlight.has(id));
    if (repeated !== undefined) {
      return createRpcRefusal(
        400,
        { code: -32600, message: "This request id is still running" },
        repeated,
      );
    }
    inFlight.add(ids);
    const response = await transport.handleRequest(request, given);
    if (response.status >= 400) inFlight.remove(ids);
    if (request.method === "GET" && response.ok) trackStream(found, request.signal, runtime);
    return response;
  }

  function beginCall(
    sessionId: string,
    caller: Caller,
    id: string | number,
  ): RunningCall | undefined {
    const session = sessions.get(sessionId);
    if (session?.holder.caller !== callerKey(caller) || session.inFlight.has(id)) return undefined;
    session.lastUsedAt = runtime.now();
    return session.inFlight.beginCall(id);
  }

  /** Returns the same refusal for an unknown id and for another caller's id. */
  async function findOrOpenSession(
    request: Request,
    given: SessionRequest,
  ): Promise<Session | Response> {
    const holder = getPlaceHolder(given.caller);
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = sessions.get(id);
      if (session?.holder.caller === holder.caller) return session;
      return createRpcRefusal(404, { code: -32001, message: "Session not found" });
    }
    if (!hasInitializeRequest(given.parsedBody)) {
      return createRpcRefusal(400, { code: -32000, message: "Mcp-Session-Id header is required" });
    }
    if (!sessions.makeRoom(holder)) {
      return createRpcRefusal(503, { code: -32000, message: "Too many open sessions" });
    }
    return openSession(holder, { sessions, newServer: options.newServer, runtime });
  }

  return {
    handle,
    has: (sessionId) => sessions.get(sessionId) !== undefined,
    beginCall,
    close: () => sessions.close(),
    get size() {
      return sessions.size;
    },
  };
}

async function openSession(
  holder: PlaceHolder,
  parts: {
    readonly sessions: SessionTable;
    readonly newServer: () => Server;
    readonly runtime: Pick<Runtime, "now" | "randomBytes">;
  },
): Promise<Session> {
  const { sessions, newServer, runtime } = parts;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => toBase64Url(runtime.randomBytes(24)),
    onsessioninitialized: (id) => sessions.set(id, session),
    onsessionclosed: (id) => sessions.delete(id),
  });
  const session: Session = {
    transport,
    holder,
    inFlight: createInFlightRequests(),
    lastUsedAt: runtime.now(),
    openStreams: 0,
  };
  const server = newServer();
  await server.connect(transport);
  session.inFlight.watch(transport);
  server.onclose = () => session.inFlight.close();
  return session;
}

/** Counts a session with an open stream as used until the stream ends. */
function trackStream(session: Session, signal: AbortSignal, { now }: Pick<Runtime, "now">): void {
  session.openStreams += 1;
  const release = () => {
    session.openStreams -= 1;
    session.lastUsedAt = now();
  };
  signal.addEventListener("abort", release, { once: true });
}

function hasInitializeRequest(body: unknown): boolean {
  return (Array.isArray(body) ? body : [body]).some((message) => isInitializeRequest(message));
}
