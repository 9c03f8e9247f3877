import { BoundedMap } from "@agent/crypto";
import type { BegunOrder } from "./order-store.ts";

/** The orders whose task may exist although their caller never got the outcome. */
export interface UndecidedOrders {
  /** Returns and removes the oldest order with this hash, so that only one call continues it. */
  take(orderHash: string): BegunOrder | undefined;
  keep(order: BegunOrder): void;
}

const MAX_ORDERS = 1_000;

/**
 * Keeps orders without an outcome, so that a caller that repeats one continues its task and does
 * not pay twice. After `maxAgeMs` the relay no longer knows the key.
 */
export function createUndecidedOrders(options: {
  now: () => number;
  maxAgeMs: number;
}): UndecidedOrders {
  const { now, maxAgeMs } = options;
  const orders = new BoundedMap<string, BegunOrder>(MAX_ORDERS);
  return {
    take(orderHash) {
      for (const [, order] of orders) {
        if (order.orderHash !== orderHash) continue;
        orders.delete(order.idempotencyKey);
        if (now() - order.since < maxAgeMs) return order;
      }
      return undefined;
    },
    keep(order) {
      orders.set(order.idempotencyKey, order);
    },
  };
}
