import type { BegunOrder } from "./order-store.ts";

/**
 * The time after an answer for which an equal order counts as a repetition at the next start, because the
 * answer may not have reached its caller when the process was killed.
 */
export const ANSWER_GRACE_MS = 120_000;

/**
 * Splits the orders that were stored when a process ended: those that an equal call of the next process
 * continues, and those that are over, because their caller has the outcome or because the relay no
 * longer knows their key after `maxAgeMs`.
 */
export function selectRepeatableOrders(
  orders: readonly BegunOrder[],
  { now, maxAgeMs }: { readonly now: number; readonly maxAgeMs: number },
): { readonly repeatable: readonly BegunOrder[]; readonly over: readonly BegunOrder[] } {
  const isRepeatable = ({ since, answeredAt = now }: BegunOrder) =>
    now - since < maxAgeMs && now - answeredAt < ANSWER_GRACE_MS;
  return {
    repeatable: orders.filter(isRepeatable),
    over: orders.filter((order) => !isRepeatable(order)),
  };
}
