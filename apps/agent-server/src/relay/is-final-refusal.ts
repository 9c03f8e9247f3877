import { isOfRelay, type CallRefusal } from "@agent/client";

/**
 * Returns whether the relay refused for good, so that another attempt is pointless. An error that is
 * not the relay's own is not final: a proxy's may also have a code and a message, and a receipt that is
 * deleted because of it is never paid. A relay that lost this agent or its token gets another attempt,
 * because the agent registers again meanwhile.
 */
export function isFinalRefusal({ code, status }: Pick<CallRefusal, "code" | "status">): boolean {
  if (!isOfRelay({ code })) return false;
  if (code.startsWith("auth.")) return code === "auth.not_owner";
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
