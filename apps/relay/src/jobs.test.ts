import { afterEach, expect, test } from "vitest";
import { buyer, delegate, seller } from "../test/market.ts";
import { startTestRelay, type TestRelay } from "../test/test-relay.ts";

let t: TestRelay;
afterEach(() => t.close());

test("a job that fails is logged, and the others still run", async () => {
  t = await startTestRelay();
  await t.relay.close();
  await expect(t.relay.tick()).resolves.toBeUndefined();
  const failed = t.logged("job.failed").map(({ job }) => job);
  expect(failed).toContain("expire-tasks");
  expect(failed).toContain("forget-old-tasks");
});

test("a job runs when it is due, not at every tick", async () => {
  t = await startTestRelay({ AGENT_TASK_TTL_MS: "1" });
  const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
  await t.relay.tick();
  await delegate(t, boss, worker);
  await t.clock.advance(999);
  await t.relay.tick();
  expect(t.logged("task.expired")).toEqual([]);
  await t.clock.advance(1);
  await t.relay.tick();
  expect(t.logged("task.expired")).toHaveLength(1);
});
