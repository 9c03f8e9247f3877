import { limits } from "@agent/wire";
import {
  isJsonContentType,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { readBody } from "./read-body.ts";
import { toAuthInfo } from "./authentication/caller-info.ts";
import { parseMessage } from "./parse-message.ts";
import { createMessageRefusal } from "./refusals.ts";
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
    if (request.method !== "POST") {
      const authInfo = toAuthInfo(caller);
      return sessions.handle(request, { caller, authInfo });
    }
    if (!isJsonContentType(request.headers.get("content-type") ?? undefined)) {
      return refuseRequest(c, "request.media_type");
    }
    const body = await readBody(request, limits.requestBytes);
    if (!body.ok) return refuseRequest(c, "request.too_large");
    const parsed = parseMessage(Buffer.from(body.text));
    if (!parsed.ok) return createMessageRefusal(parsed.code);

    const { value: parsedBody, isUnread } = parsed;
    const authInfo = toAuthInfo(caller, isUnread);
    return (await isLegacyRequest(request, parsedBody))
      ? sessions.handle(request, { caller, authInfo, parsedBody })
      : modern.fetch(request, { authInfo, parsedBody });
  };
}
