import { accountOf, buildReversalPostings, toDollars, type Micro, ZERO } from "@agent/budget";
import { recordRelayEvent } from "../../feed/record-event.ts";
import type { Runtime } from "../../runtime.ts";
import type { Tx } from "../../storage/storage.ts";
import type { Credit } from "../credit-account.ts";
import { postMovement } from "../post-movement.ts";
import { findAccount } from "../store.ts";

/** Reverses a deposit and returns the new balance, which may be negative. */
export async function reverseDeposit(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { agentId, amount, ...entry }: Credit,
): Promise<{ readonly ok: true; readonly balance: Micro }> {
  const posted = await postMovement(tx, runtime, buildReversalPostings({ agentId, amount }), entry);
  // The account may become negative, so a refusal is a bug.
  if (!posted.ok) throw new Error(`a deposit cannot be reversed: ${posted.code}`);
  const reversed = { agent_id: agentId, amount: toDollars(amount), reference: entry.reference };
  await recordRelayEvent(tx, { at: runtime.now(), type: "money.reversed" }, reversed);
  const account = await findAccount(tx, accountOf.agent(agentId));
  return { ok: true, balance: account?.balance ?? ZERO };
}
