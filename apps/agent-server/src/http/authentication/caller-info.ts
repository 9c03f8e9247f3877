import type { AuthInfo, BaseContext } from "@modelcontextprotocol/server";
import { callerKey, type Caller } from "../../caller.ts";

// The token itself is left out because no handler needs it.
/**
 * Wraps the caller in the form in which the SDK passes it to the handler of a request, and whether
 * the arguments of the request were left unread.
 */
export function toAuthInfo(caller: Caller, isUnread = false): AuthInfo {
  return { token: "", clientId: callerKey(caller), scopes: [], extra: { caller, isUnread } };
}

/** Returns whether a call came without its arguments, because they hold too many values. */
export function hasUnreadArguments(context: BaseContext): boolean {
  return context.http?.authInfo?.extra?.["isUnread"] === true;
}

/**
 * Returns the caller of an HTTP request; a request without one is a bug and never counts as the
 * owner's.
 */
export function getCaller(context: BaseContext): Caller {
  const caller = context.http?.authInfo?.extra?.["caller"];
  if (caller === undefined) throw new Error("MCP request reached a handler without its caller");
  return caller as Caller;
}
