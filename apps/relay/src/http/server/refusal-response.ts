import { buildErrorBody, errors, type Refusal } from "@agent/wire";
import type { Context } from "hono";
import { newId, type Runtime } from "../../runtime.ts";

/** Returns the id that the request names if it is well-formed, otherwise a new one. */
export function getRequestId(c: Context, runtime: Pick<Runtime, "now" | "randomBytes">): string {
  const given = c.req.header("x-request-id");
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : newId(runtime);
}

/** Builds the response of a refusal, for every path and every upgrade. */
export function createRefusalResponse(
  refusal: Refusal,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { status } = errors[refusal.code];
  const { retryAfterSeconds } = refusal;
  return new Response(JSON.stringify(buildErrorBody(refusal, requestId)), {
    status,
    headers: {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
      ...headers,
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      ...(status === 401 && { "www-authenticate": "Bearer" }),
      ...refusal.headers,
    },
  });
}
