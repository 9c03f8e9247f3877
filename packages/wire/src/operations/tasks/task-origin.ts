import { parseAmount } from "@agent/budget";
import * as v from "valibot";
import { limits } from "../../engine/limits.ts";

/**
 * The member of `_meta` in which a relay states the origin and the time limit of a task that it sends by
 * calling `agent_task`. It is not an argument, because an endpoint may refuse arguments that it does not
 * know.
 */
export const TASK_ORIGIN = "agent-delegation/task_origin";

/** The submitter, the price and the time limit of a task, as its relay knows them. */
export const TaskOrigin = v.object({
  /** The id of the agent that pays for the task; absent without one. */
  submitted_by: v.exactOptional(v.string()),
  /** In US dollars. */
  estimated_cost: v.number(),
  /**
   * The time that the executor has for the task from the start of the call, in ms; absent without a limit.
   */
  wall_clock_ms: v.exactOptional(v.number()),
});
export type TaskOrigin = v.InferOutput<typeof TaskOrigin>;

/**
 * Returns whether a price in US dollars, which may come from another system, makes a task a paid one. A
 * task below that price is treated like a free one.
 */
export function isPaidPrice(price: number): boolean {
  const checked = parseAmount(price, { allowZero: true });
  return checked.ok && checked.amount >= limits.paidTaskCharge;
}
