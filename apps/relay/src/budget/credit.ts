import { depositPostings, type Micro } from "@agent/budget";
import type { Refusal } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import { post, type Entry } from "./post.ts";

/** An entry with whom it credits and how much; `releaseAt` is set for card money only. */
export interface Credit extends Entry {
  readonly agentId: string;
  readonly amount: Micro;
}

/** Money from outside; that it comes only once is the caller's to see to. */
export async function credit(
  tx: Tx,
  runtime: Pick<Runtime, "now" | "randomBytes">,
  { agentId, amount, ...entry }: Credit,
): Promise<{ readonly ok: true; readonly transactionId: string } | Refusal<"money.balance_limit">> {
  const postings = depositPostings({ agentId, amount });
  const posted = await post(tx, runtime, postings, entry);
  if (posted.ok) return posted;
  // Money from the world cannot be short.
  if (posted.code !== "money.balance_limit") throw new Error(`a deposit failed: ${posted.code}`);
  return { ok: false, code: posted.code };
}
