import { limits } from "@agent/wire";

/** The slots among those that many share that tasks up to a price may fill. */
export interface SharedSlots {
  readonly slots: number;
  /** The price in micro-units from which a task may use more of them; null if it may use all. */
  readonly moreFrom: number | null;
}

/**
 * Returns the slots available at a price in micro-units: half of them for free tasks, and another tenth for
 * each power of ten from `paidTaskCharge` on. A hold is returned when its task is cancelled, so any number
 * of cheap tasks only ties up money. They must not block more expensive tasks: that requires holds of the
 * same size.
 */
export function getSharedSlots(limit: number, charge: number): SharedSlots {
  let tenths = 5;
  let moreFrom: number = limits.paidTaskCharge;
  for (; tenths < 10 && charge >= moreFrom; moreFrom *= 10) tenths += 1;
  return { slots: (limit * tenths) / 10, moreFrom: tenths < 10 ? moreFrom : null };
}
