import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createUndecidedOrders } from "./undecided-orders.ts";

const maxAgeMs = 1_000;

function newOrders() {
  const clock = createManualClock();
  const keep = (orderHash: string, idempotencyKey: string) => {
    const plan = { agentId: "worker", excludeAgents: [] };
    const order = { orderHash, idempotencyKey, plan, since: clock.now() };
    orders.keep(order);
    return order;
  };
  const orders = createUndecidedOrders({ now: clock.now, maxAgeMs });
  return { clock, orders, keep };
}

test("a repeated order continues the oldest equal one, and each is continued once", () => {
  const { orders, keep } = newOrders();
  keep("other", "0");
  const [first, second] = [keep("same", "1"), keep("same", "2")];
  expect(["same", "same", "same"].map((hash) => orders.take(hash))).toEqual([
    first,
    second,
    undefined,
  ]);
});

test("an order is not continued once the relay no longer knows its key", async () => {
  const { clock, orders, keep } = newOrders();
  keep("same", "1");
  await clock.advance(1);
  const later = keep("same", "2");
  await clock.advance(maxAgeMs - 1);
  expect(orders.take("same")).toEqual(later);
  keep("same", "3");
  await clock.advance(maxAgeMs);
  expect(orders.take("same")).toBeUndefined();
});
