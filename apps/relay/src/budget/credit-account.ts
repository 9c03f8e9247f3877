import { buildDepositPostings, type Micro } from "@agent/budget";
import type { Refusal } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import { postMovement, type PostingEntry } from "./post-movement.ts";

/** An entry with whom it credits and how much; `releaseAt` is set for card money only. */
export interface Credit extends PostingEntry {
  readonly agentId: string;
  readonly amount: Micro;
}

/** Money from outside; that it comes only once is the caller's to see to. */
export async function creditAccount(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { agentId, amount, ...entry }: Credit,
): Promise<{ readonly ok: true; readonly transactionId: string } | Refusal<"money.balance_limit">> {
  const postings = buildDepositPostings({ agentId, amount });
  const posted = await postMovement(tx, runtime, postings, entry);
  if (posted.ok) return posted;
  // Money from the world cannot be short.
  if (posted.code !== "money.balance_limit") throw new Error(`a deposit failed: ${posted.code}`);
  return { ok: false, code: posted.code };
}
