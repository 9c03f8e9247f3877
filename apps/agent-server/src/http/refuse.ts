import type { Context } from "hono";
import type { Caller } from "../caller.ts";
import { refusalResponse, type HttpCode } from "./refusals.ts";

/** What every request carries on its way through the handlers. */
export interface HttpEnv {
  Variables: { requestId: string; caller: Caller };
}

export function refuse(
  c: Context<HttpEnv>,
  code: HttpCode,
  headers: Record<string, string> = {},
): Response {
  const { requestId } = c.var;
  return refusalResponse(code, requestId, { "X-Request-Id": requestId, ...headers });
}
