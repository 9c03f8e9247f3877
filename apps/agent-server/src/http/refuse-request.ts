import type { Context } from "hono";
import type { Caller } from "../caller.ts";
import { createRefusalResponse, type HttpCode } from "./refusals.ts";

/** The variables of a request that its handlers share. */
export interface HttpEnv {
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
