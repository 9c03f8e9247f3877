import { isOfRelay, type CallRefusal } from "@agent/client";

/**
 * Returns whether the relay refused permanently, so that another attempt is pointless. An error that does
 * not come from the relay is not final: a proxy's error may also have a code and a message, and a receipt
 * that is deleted because of it is never paid. A relay that lost this agent or its token gets another
 * attempt, because the agent registers again in the meantime. So does one that gave the agent's key to another
 * agent, because the owner may rotate the key, and a receipt under the lost one can still be paid.
 */
export function isFinalRefusal({ code, status }: Pick<CallRefusal, "code" | "status">): boolean {
  if (!isOfRelay({ code })) return false;
  if (code.startsWith("auth.")) return code === "auth.not_owner";
  if (code === "agent.key_displaced") return false;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
