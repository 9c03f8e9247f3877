import {
  accountOf,
  asMicro,
  computeArbitrationFee,
  computeAvailableBalance,
  computeInspectedLock,
  buildHoldPostings,
  computeLockAmount,
  buildReleasePostings,
  type ArbitrationRate,
  type Micro,
  ZERO,
} from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import { postMovement } from "./post-movement.ts";
import { findAccountToMove } from "./store.ts";

export interface HoldRequest {
  readonly payerId: string;
  readonly taskId: string;
  readonly charge: Micro;
  readonly maxBudget: Micro | undefined;
  /** Of a task that is inspected before payment: the hold must cover the arbitration fee as well. */
  readonly arbitration?: ArbitrationRate | undefined;
}

/** Computes the minimum amount that a hold must have, in micro-units. */
export function computeLeastHold({
  charge,
  arbitration,
}: Pick<HoldRequest, "charge" | "arbitration">): Micro {
  if (arbitration === undefined) return charge;
  return asMicro(charge + computeArbitrationFee(charge, arbitration));
}

/** Reserves the price with its risk buffer, limited by balance and budget (specification, "Budget"). */
export async function reserveHold(
  tx: Tx,
  runtime: Runtime,
  { payerId, taskId, charge, maxBudget, arbitration }: HoldRequest,
): Promise<
  | { readonly ok: true; readonly locked: Micro }
  | Refusal<"budget.insufficient" | "account.overdrawn">
> {
  const account = await findAccountToMove(tx, accountOf.agent(payerId));
  const available = computeAvailableBalance({ balance: account?.balance ?? ZERO, maxBudget });
  const estimated = { estimate: charge, available };
  const locked =
    arbitration === undefined
      ? computeLockAmount(estimated)
      : computeInspectedLock({ ...estimated, ...arbitration });
  const isOverdrawn = (account?.balance ?? 0) < 0;
  if (locked === null) return refuse(isOverdrawn ? "account.overdrawn" : "budget.insufficient");
  const posted = await postMovement(
    tx,
    runtime,
    buildHoldPostings({ payerId, taskId, amount: locked }),
    { reference: taskId, description: "hold" },
    account,
  );
  if (!posted.ok) return refuse("budget.insufficient");
  return { ok: true, locked };
}

/**
 * Releases the whole hold of a task that ends without a payment. Returns whether card money that is not
 * released was in it.
 */
export async function releaseHold(
  tx: Tx,
  runtime: Runtime,
  task: { readonly task_id: string; readonly submitted_by: string | null; readonly locked: Micro },
  reason: string,
): Promise<boolean> {
  if (task.submitted_by === null || task.locked === 0) return false;
  const postings = buildReleasePostings({
    payerId: task.submitted_by,
    taskId: task.task_id,
    amount: task.locked,
  });
  const posted = await postMovement(tx, runtime, postings, {
    reference: task.task_id,
    description: reason,
  });
  // A hold that cannot be released would be lost money, so the transaction fails instead.
  if (!posted.ok)
    throw new Error(`hold of task ${task.task_id} cannot be released: ${posted.code}`);
  return posted.movesCardMoney;
}
