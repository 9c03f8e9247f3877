import { limits } from "@agent/wire";
import {
  isJsonContentType,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { callerKey } from "../caller.ts";
import { readBody } from "./read-body.ts";
import { toAuthInfo } from "./authentication/caller-info.ts";
import { createRpcRefusal } from "./refusals.ts";
import { refuseRequest, type HttpEnv } from "./refuse-request.ts";
import type { Sessions } from "./sessions.ts";

/** Handles `/mcp` for both protocol eras: the older in sessions, the newer request by request. */
export function createMcpRoute(eras: {
  sessions: Pick<Sessions, "handle">;
  modern: Pick<McpHttpHandler, "fetch">;
}): (c: Context<HttpEnv>) => Promise<Response> {
  const { sessions, modern } = eras;
  return async (c) => {
    const request = c.req.raw;
    const { caller } = c.var;
    const authInfo = toAuthInfo(caller);
    if (request.method !== "POST") {
      return sessions.handle(request, { callerKey: callerKey(caller), authInfo });
    }
    if (!isJsonContentType(request.headers.get("content-type") ?? undefined)) {
      return refuseRequest(c, "request.media_type");
    }
    const body = await readBody(request, limits.requestBytes);
    if (!body.ok) return refuseRequest(c, "request.too_large");
    const parsed = parseJson(body.text);
    if (!parsed.ok)
      return createRpcRefusal(400, { code: -32700, message: "Parse error: not valid JSON" });

    const parsedBody = parsed.value;
    return (await isLegacyRequest(request, parsedBody))
      ? sessions.handle(request, { callerKey: callerKey(caller), authInfo, parsedBody })
      : modern.fetch(request, { authInfo, parsedBody });
  };
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
