import { afterEach, beforeEach, expect, test } from "vitest";
import { createBuyer, createSeller, putListing, submitTask } from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RATE_LIMIT_PER_MINUTE: "100000" });
});
afterEach(() => t.close());

test("G2: an agent that constantly changes its price does not deprive others of tasks", async () => {
  const honest = await createSeller(t, 0.5);
  const attacker = await createSeller(t, 0.1);
  const boss = await createBuyer(t, 100);
  let isOver = false;
  const change = async () => {
    for (let step = 0; !isOver; step += 1) await putListing(t, attacker, (10 + (step % 7)) / 100);
  };
  const changing = Array.from({ length: 4 }, change);
  const codes: unknown[] = [];
  for (let sent = 0; sent < 30; sent += 1) {
    const { status, body } = await submitTask(t, boss, honest, {
      required_capabilities: ["summarise"],
    });
    codes.push(body["code"] ?? status);
  }
  isOver = true;
  await Promise.all(changing);
  expect(codes).toEqual(codes.map(() => 201));
});
