import { isOfRelay, type CallRefusal } from "@agent/client";

/**
 * Returns whether the relay refused permanently, so that another attempt is pointless. An error that does
 * not come from the relay is not final: a proxy's error may also have a code and a message, and a receipt
 * that is deleted because of it is never paid. A relay that lost this agent or its token gets another
 * attempt, because the agent registers again in the meantime.
 */
export function isFinalRefusal({ code, status }: Pick<CallRefusal, "code" | "status">): boolean {
  if (!isOfRelay({ code })) return false;
  if (code.startsWith("auth.")) return code === "auth.not_owner";
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
