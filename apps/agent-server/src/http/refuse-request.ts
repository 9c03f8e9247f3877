import type { Context } from "hono";
import type { Caller } from "../caller.ts";
import { createRefusalResponse, type HttpCode } from "./refusals.ts";

/** What every request carries on its way through the handlers. */
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
