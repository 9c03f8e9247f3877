import type { Context } from "hono";
import type { Caller } from "../caller.ts";
import { createRefusalResponse, type HttpCode } from "./refusals.ts";

/** The origin of a request, and the variables that its handlers share. */
export interface HttpEnv {
  /** A request without a socket has no origin. */
  Bindings: { incoming?: { socket: { remoteAddress?: string | undefined } } };
  Variables: { requestId: string; caller: Caller };
}

export function refuseRequest(
  c: Context<HttpEnv>,
  code: HttpCode,
  headers: Record<string, string> = {},
): Response {
  const { requestId } = c.var;
  return createRefusalResponse(code, requestId, { "X-Request-Id": requestId, ...headers });
}
