import { limits } from "@agent/wire";
import {
  isJsonContentType,
  SUPPORTED_PROTOCOL_VERSIONS,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../../caller.ts";
import type { Runtime } from "../../runtime.ts";
import { formatRequestKey, type AnswerCall } from "../../mcp-servers.ts";
import type { Authenticate } from "../authentication/authenticate.ts";
import { PRIVATE_HEADERS } from "../private-answers.ts";
import { sendAnswer } from "./send-answer.ts";
import type { RunningCall } from "./in-flight-requests.ts";
import { parsePlainCall, type PlainCall } from "./plain-call.ts";
import type { GetRequestId } from "./request-ids.ts";
import type { Sessions } from "../sessions.ts";

/**
 * Returns true for an answered request. False leaves it to the app, with its body in `rawBody` if
 * it was read.
 */
export type FastPath = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/**
 * Answers plain tool calls of open sessions directly on the socket, at a third of the cost of web
 * requests and the official library. It refuses nothing: a request that is invalid in any respect,
 * Host, caller and session included, is left to the app, which refuses it.
 */
export function createFastPath(parts: {
  hostnames: string[];
  authenticate: Authenticate;
  sessions: Sessions;
  answerCall: AnswerCall;
  requestIdOf: GetRequestId;
  runtime: Pick<Runtime, "log" | "schedule">;
}): FastPath {
  const { hostnames, authenticate, sessions, answerCall, requestIdOf, runtime } = parts;

  return async (request, response) => {
    const { headers } = request;
    const sessionId = headers["mcp-session-id"];
    if (typeof sessionId !== "string" || !canBePlainCall(request) || !isAddressedToServer(request))
      return false;
    // Without this check an invented session would have each wrong token checked twice.
    if (!sessions.has(sessionId)) return false;
    // The app meets the same failure and reports it.
    const authenticated = await authenticate(headers.authorization ?? null, {
      socketAddress: request.socket.remoteAddress,
      forwardedFor: joinHeader(headers["x-forwarded-for"]),
    }).catch(() => undefined);
    if (authenticated?.ok !== true) return false;

    const body = await readRawBody(request);
    if (body === undefined) return true;
    const call = parsePlainCall(body);
    const running = call && sessions.beginCall(sessionId, authenticated.caller, call.id);
    if (call === undefined || running === undefined) {
      Object.assign(request, { rawBody: body });
      return false;
    }
    const requestId = requestIdOf(joinHeader(headers["x-request-id"]));
    const { caller } = authenticated;
    const answer = runCall(call, { caller, sessionId }, running, requestId);
    await sendAnswer(response, answer, {
      headers: { ...PRIVATE_HEADERS, "x-request-id": requestId, "mcp-session-id": sessionId },
      schedule: runtime.schedule,
    });
    return true;
  };

  function isAddressedToServer({ headers }: IncomingMessage): boolean {
    return (
      validateHostHeader(headers.host, hostnames).ok &&
      validateOriginHeader(headers.origin, hostnames).ok
    );
  }

  async function runCall(
    { id, ...params }: PlainCall,
    { caller, sessionId }: { readonly caller: Caller; readonly sessionId: string },
    { signal, end }: RunningCall,
    requestId: string,
  ): Promise<object | undefined> {
    try {
      const result = await answerCall(params, caller, {
        cancel: signal,
        requestKey: formatRequestKey(sessionId, id),
      });
      return signal.aborted ? undefined : { jsonrpc: "2.0", id, result };
    } catch (cause) {
      runtime.log("error", "http.failed", { request_id: requestId, cause: String(cause) });
      return { jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error" } };
    } finally {
      end();
    }
  }
}

function canBePlainCall({ method, url, headers }: IncomingMessage): boolean {
  const version = headers["mcp-protocol-version"];
  const { accept = "" } = headers;
  return (
    method === "POST" &&
    url === "/mcp" &&
    Number(headers["content-length"]) <= limits.requestBytes &&
    isJsonContentType(headers["content-type"]) &&
    (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream")
  );
}

/** Resolves to undefined when the client disconnects before the whole body has arrived. */
function readRawBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("close", () => resolve(undefined));
  });
}

function joinHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}
