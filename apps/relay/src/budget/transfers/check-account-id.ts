import { isUuid } from "@agent/crypto";
import { refuse, type Refusal } from "@agent/wire";
import { refuseField } from "../../http/server/validate.ts";

/** The account of a wallet that paid without an agent. */
const WALLET_ACCOUNT = /^x402:0x[0-9a-f]{40}$/;

/**
 * Checks the id of an account that money from outside is for; undefined if it may be credited. No agent can
 * have an id of another form, so that the money could never leave such an account.
 */
export function checkAccountId(
  agentId: string,
  relayId: string,
): Refusal<"request.invalid" | "agent.id_reserved"> | undefined {
  if (!isUuid(agentId) && !WALLET_ACCOUNT.test(agentId)) {
    return refuseField("agentId", "must be a UUID, or x402: with the address of a wallet");
  }
  // The relay's id shows its fee account, so a deposit under that id would be invisible.
  return agentId === relayId ? refuse("agent.id_reserved") : undefined;
}
