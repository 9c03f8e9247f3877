import { afterEach, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../test/market.ts";
import { startTestRelay, type TestRelay } from "../test/test-relay.ts";

let t: TestRelay;
afterEach(() => t.close());

test("a job that fails is logged, and the others still run", async () => {
  t = await startTestRelay();
  await t.relay.close();
  await expect(t.relay.tick()).resolves.toBeUndefined();
  const failed = t.listLogged("job.failed").map(({ job }) => job);
  expect(failed).toContain("expire-tasks");
  expect(failed).toContain("forget-old-tasks");
});

test("a job runs when it is due, not at every tick", async () => {
  t = await startTestRelay({ AGENT_TASK_TTL_MS: "1" });
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.relay.tick();
  await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(999);
  await t.relay.tick();
  expect(t.listLogged("task.expired")).toEqual([]);
  await t.clock.advance(1);
  await t.relay.tick();
  expect(t.listLogged("task.expired")).toHaveLength(1);
});
