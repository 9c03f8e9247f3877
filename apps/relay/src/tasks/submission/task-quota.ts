import { toDollars } from "@agent/budget";
import { limits, refuse, type Refusal } from "@agent/wire";
import { isPeerPayer } from "../../federation/peer-ref.ts";
import type { Tx } from "../../storage/storage.ts";
import { decrementOpenTasks, incrementOpenTasks } from "./task-quota-store.ts";

const RELAY_SCOPE = "all";

/** The submitter of a task and its price, in micro-units. */
export interface TaskToCount {
  readonly submitter: string | null;
  readonly charge: number;
}

/**
 * Acquires a slot among the open tasks of the relay and of the submitter. Many share the slots of the
 * relay, and the users of a peer share those of the peer. A free task costs its submitter nothing, nor does
 * a new identity, so tasks that are free or cost next to nothing fill at most half of shared slots, and the
 * rest stays for paid tasks.
 */
export async function acquireTaskSlot(
  tx: Tx,
  { submitter, charge }: TaskToCount,
): Promise<Refusal<"task.relay_full" | "task.submitter_full"> | undefined> {
  const isPaid = charge >= limits.paidTaskCharge;
  const sharedSlots = (limit: number) => (isPaid ? limit : limit / 2);
  const relaySlots = sharedSlots(limits.liveTasks);
  if (!(await incrementOpenTasks(tx, RELAY_SCOPE, relaySlots))) {
    return refuseSlot("task.relay_full", relaySlots, isPaid);
  }
  if (submitter === null) return undefined;
  const limit = limits.liveTasksPerSubmitter;
  const slots = isPeerPayer(submitter) ? sharedSlots(limit) : limit;
  return (await incrementOpenTasks(tx, `by:${submitter}`, slots))
    ? undefined
    : refuseSlot("task.submitter_full", slots, isPaid);
}

function refuseSlot<C extends "task.relay_full" | "task.submitter_full">(
  code: C,
  slots: number,
  isPaid: boolean,
): Refusal<C> {
  const detail = isPaid
    ? `at most ${slots} open tasks`
    : `below ${toDollars(limits.paidTaskCharge)} USD at most ${slots} open tasks`;
  return { ...refuse(code, detail), retryAfterSeconds: 60 };
}

export async function releaseTaskSlot(tx: Tx, submitter: string | null): Promise<void> {
  await decrementOpenTasks(tx, RELAY_SCOPE);
  if (submitter !== null) await decrementOpenTasks(tx, `by:${submitter}`);
}
