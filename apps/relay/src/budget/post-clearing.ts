import { accountOf, ZERO, type Micro, type Posting } from "@agent/budget";
import type { Runtime } from "../runtime.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PostingRow } from "../storage/tables/budget.ts";
import { postMovement, type PostedRow } from "./post-movement.ts";
import { findAccount, listPostings } from "./store.ts";

/** Returns what this relay owes a peer, in micro-units; negative when the peer owes. */
export async function getClearingBalance(read: Reader, relayId: string): Promise<Micro> {
  return (await findAccount(read, accountOf.peer(relayId)))?.balance ?? ZERO;
}

/** The movement of a decision of the clearing rules. */
export interface PostedClearing {
  readonly rows: readonly PostedRow[];
  /** Whether card money that is not released left an account. */
  readonly movesCardMoney: boolean;
}

/** Posts a decision of the clearing rules; the rules ensure cover, so a refusal is a bug. */
export async function postClearing(
  tx: Tx,
  runtime: Runtime,
  postings: readonly Posting[],
  entry: { readonly taskId: string; readonly description: string },
): Promise<PostedClearing> {
  if (postings.length === 0) return { rows: [], movesCardMoney: false };
  const { taskId, description } = entry;
  const posted = await postMovement(tx, runtime, postings, { reference: taskId, description });
  if (posted.ok) return posted;
  throw new Error(`a movement between relays for task ${taskId} failed: ${posted.code}`);
}

/** Lists the movements of the account between this relay and a peer, newest first. */
export function listClearingPostings(
  read: Reader,
  {
    relayId,
    ...page
  }: { readonly relayId: string; readonly before: number; readonly limit: number },
): Promise<PostingRow[]> {
  return listPostings(read, { account: accountOf.peer(relayId), ...page });
}
