import { buildDepositPostings, toDollars, type Micro } from "@agent/budget";
import type { Refusal } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import { postMovement, type PostingEntry } from "./post-movement.ts";

/** A credit entry with its account and amount; `releaseAt` is set for card money only. */
export interface Credit extends PostingEntry {
  readonly agentId: string;
  readonly amount: Micro;
}

/** Credits money from outside; the caller must ensure that this happens only once. */
export async function creditAccount(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { agentId, amount, ...entry }: Credit,
): Promise<{ readonly ok: true; readonly transactionId: string } | Refusal<"money.balance_limit">> {
  const postings = buildDepositPostings({ agentId, amount });
  const posted = await postMovement(tx, runtime, postings, entry);
  if (posted.ok) {
    const { reference } = entry;
    const credited = { agent_id: agentId, amount: toDollars(amount), reference };
    await recordRelayEvent(tx, { at: runtime.now(), type: "money.deposited" }, credited);
    return posted;
  }
  // The outside account may be negative, so only the limit of the balance can refuse.
  if (posted.code !== "money.balance_limit") throw new Error(`a deposit failed: ${posted.code}`);
  return { ok: false, code: posted.code };
}
