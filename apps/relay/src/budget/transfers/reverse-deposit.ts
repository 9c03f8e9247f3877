import { accountOf, asMicro, buildReversalPostings, type Micro } from "@agent/budget";
import type { Runtime } from "../../runtime.ts";
import type { Tx } from "../../storage/storage.ts";
import type { Credit } from "../credit-account.ts";
import { postMovement } from "../post-movement.ts";
import { findAccount } from "../store.ts";

/** Takes a deposit back; the account may owe afterwards. Answers what it then holds. */
export async function reverseDeposit(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { agentId, amount, ...entry }: Credit,
): Promise<{ readonly ok: true; readonly balance: Micro }> {
  const posted = await postMovement(tx, runtime, buildReversalPostings({ agentId, amount }), entry);
  // It need not be covered, so anything else is a fault of the program.
  if (!posted.ok) throw new Error(`a deposit cannot be taken back: ${posted.code}`);
  const account = await findAccount(tx, accountOf.agent(agentId));
  return { ok: true, balance: asMicro(account?.balance ?? 0) };
}
