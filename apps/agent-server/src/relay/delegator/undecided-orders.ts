import type { OrderPlan } from "./plan-order.ts";

/** An order whose task may exist although its caller never got the outcome. */
export interface UndecidedOrder {
  readonly idempotencyKey: string;
  readonly plan: OrderPlan;
  readonly since: number;
}

export interface UndecidedOrders {
  /** Returns and removes the order, so that only one call continues it. */
  take(orderHash: string): UndecidedOrder | undefined;
  keep(orderHash: string, order: UndecidedOrder): void;
}

const MAX_ORDERS = 1_000;

/**
 * Stores orders without an outcome, so that a caller that repeats one continues its task and does
 * not pay twice. After `maxAgeMs` the relay no longer knows the key.
 */
export function createUndecidedOrders(options: {
  now: () => number;
  maxAgeMs: number;
}): UndecidedOrders {
  const { now, maxAgeMs } = options;
  const orders = new Map<string, UndecidedOrder>();
  return {
    take(orderHash) {
      const order = orders.get(orderHash);
      orders.delete(orderHash);
      return order !== undefined && now() - order.since < maxAgeMs ? order : undefined;
    },
    keep(orderHash, order) {
      orders.delete(orderHash);
      orders.set(orderHash, order);
      const [oldest] = orders.keys();
      if (orders.size > MAX_ORDERS && oldest !== undefined) orders.delete(oldest);
    },
  };
}
