import {
  refuse,
  type AnswerHeaders,
  type MediaAnswer,
  type Operation,
  type Refusal,
} from "@agent/wire";
import type { Context } from "hono";
import * as v from "valibot";
import { StorageFrozen, StorageUnavailable } from "../../storage/storage.ts";
import { buildCorsHeaders } from "./cors.ts";
import type { Log } from "../../observability/log.ts";
import { createMediaResponse } from "./media-response.ts";
import { createRefusalResponse } from "./refusal-response.ts";
import { traceId } from "../../observability/trace.ts";

/** The result of an operation: an answer of its contract, or a refusal. */
export type OperationResult =
  | {
      readonly ok?: true;
      readonly status: number;
      readonly body: unknown;
      readonly headers?: AnswerHeaders;
    }
  | MediaAnswer
  | Refusal;

export type ResponseHeaders = Record<string, string>;

/** The headers of every response. */
export function responseHeaders(
  c: Context,
  id: string,
  corsOrigins: "*" | readonly string[],
): ResponseHeaders {
  return {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "x-request-id": id,
    ...buildCorsHeaders(corsOrigins, c.req.header("origin")),
  };
}

/** Builds the response to a request from the operation's result; adds the result's headers to `headers`. */
export function operationResponse(
  operation: Operation,
  result: OperationResult,
  { id, headers }: { readonly id: string; readonly headers: ResponseHeaders },
): Response {
  if (result.ok === false) return createRefusalResponse(result, id, headers);
  addHeaders(headers, result.headers);
  if ("mediaType" in result) return createMediaResponse(result, headers);
  const { status } = result;
  if (status === 204 || status === 304) {
    delete headers["content-type"];
    return new Response(null, { status, headers });
  }
  if (operation.rawAnswer)
    return new Response(result.body as string | Uint8Array<ArrayBuffer>, { status, headers });
  const schema = operation.ok[status];
  // Parsing removes members that the contract does not name, so no column leaks.
  const body = schema === undefined ? result.body : v.parse(schema, result.body);
  return new Response(JSON.stringify(body), { status, headers });
}

/** An answer with a `Vary` header of its own also varies by those of every response. */
function addHeaders(headers: ResponseHeaders, own: AnswerHeaders = {}): void {
  const { vary } = headers;
  Object.assign(headers, own);
  if (vary !== undefined && own["vary"] !== undefined) headers["vary"] = `${vary}, ${own["vary"]}`;
}

/** The minimum time that a database needs to recover. */
const OUTAGE_RETRY_SECONDS = 2;

/** Logs the cause of a failure; the caller gets only the request id to report it by. */
export function failureResponse(
  error: unknown,
  log: Log,
  { id, headers }: { readonly id: string; readonly headers: ResponseHeaders },
): Response {
  if (error instanceof StorageFrozen) {
    return createRefusalResponse(refuseFrozen(error.reason), id, headers);
  }
  const isOutage = error instanceof StorageUnavailable;
  const code = isOutage ? "server.unavailable" : "server.failed";
  log.error("request.failed", {
    request_id: id,
    trace_id: traceId(),
    code,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  const retryAfter = isOutage ? { retryAfterSeconds: OUTAGE_RETRY_SECONDS } : {};
  return createRefusalResponse({ ...refuse(code), ...retryAfter }, id, headers);
}

export const refuseFrozen = (reason: string) => ({
  ...refuse("server.frozen", reason),
  retryAfterSeconds: 60,
});
