import { toDollars } from "@agent/budget";
import { limits, refuse, type Refusal } from "@agent/wire";
import { isPeerPayer } from "../../federation/peer-ref.ts";
import type { Tx } from "../../storage/storage.ts";
import { getSharedSlots, type SharedSlots } from "./shared-slots.ts";
import { decrementOpenTasks, incrementOpenTasks } from "./task-quota-store.ts";

const RELAY_SCOPE = "all";

/** The submitter of a task and its price, in micro-units. */
export interface TaskToCount {
  readonly submitter: string | null;
  readonly charge: number;
}

/**
 * Acquires a slot among the open tasks of the relay and of the submitter. The slots of the relay are shared
 * by many, and those of a peer by its users. A new identity costs nothing, so the price of a task decides
 * how many shared slots it may use (`getSharedSlots`).
 */
export async function acquireTaskSlot(
  tx: Tx,
  { submitter, charge }: TaskToCount,
): Promise<Refusal<"task.relay_full" | "task.submitter_full"> | undefined> {
  const ofRelay = getSharedSlots(limits.liveTasks, charge);
  if (!(await incrementOpenTasks(tx, RELAY_SCOPE, ofRelay.slots))) {
    return refuseSlot("task.relay_full", ofRelay);
  }
  if (submitter === null) return undefined;
  const limit = limits.liveTasksPerSubmitter;
  const own = isPeerPayer(submitter)
    ? getSharedSlots(limit, charge)
    : { slots: limit, moreFrom: null };
  return (await incrementOpenTasks(tx, `by:${submitter}`, own.slots))
    ? undefined
    : refuseSlot("task.submitter_full", own);
}

function refuseSlot<C extends "task.relay_full" | "task.submitter_full">(
  code: C,
  { slots, moreFrom }: SharedSlots,
): Refusal<C> {
  const atMost = `at most ${slots} open tasks`;
  const detail = moreFrom === null ? atMost : `below ${toDollars(moreFrom)} USD ${atMost}`;
  return { ...refuse(code, detail), retryAfterSeconds: 60 };
}

export async function releaseTaskSlot(tx: Tx, submitter: string | null): Promise<void> {
  await decrementOpenTasks(tx, RELAY_SCOPE);
  if (submitter !== null) await decrementOpenTasks(tx, `by:${submitter}`);
}
