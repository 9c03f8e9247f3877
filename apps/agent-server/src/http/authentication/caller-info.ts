import type { AuthInfo, BaseContext } from "@modelcontextprotocol/server";
import { callerKey, type Caller } from "../../caller.ts";

// The token itself is not passed on: nothing behind the door needs it.
/** How the caller travels through the SDK, per request, to the handler. */
export function toAuthInfo(caller: Caller): AuthInfo {
  return { token: "", clientId: callerKey(caller), scopes: [], extra: { caller } };
}

/** The caller of an HTTP request; a request that came without one is a bug, never the owner. */
export function getCaller(context: BaseContext): Caller {
  const caller = context.http?.authInfo?.extra?.["caller"];
  if (caller === undefined) throw new Error("an MCP request reached a handler without its caller");
  return caller as Caller;
}
