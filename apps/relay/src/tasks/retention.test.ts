import { createReceipt } from "@agent/testkit";
import { afterEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  submitTask,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const DAY = 86_400_000;

let t: TestRelay;
afterEach(() => t.close());

async function statusAfter(ms: number, { path }: Delegation): Promise<number> {
  await t.clock.advance(ms);
  await t.relay.tick();
  return (await t.asOperator("GET", path)).status;
}

test("B2: a no-show is stored for as long as a finished task, and then deleted", async () => {
  t = await startTestRelay({ AGENT_RETENTION_DAYS: "1" });
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.clock.advance(1_000);
  const task = await submitAcceptedTask(t, boss, worker, { wall_clock_ms: 30_000 });
  await t.as(worker, "POST", `${task.path}/claim`);
  for (const ms of [31_000, 870_000]) {
    await t.clock.advance(ms);
    await t.relay.tick();
  }
  const listed = async () => {
    const path = `/agent/${boss.agentId}/tasks?submitted_by=me&status=expired`;
    return ((await t.as(boss, "GET", path)).body["tasks"] as unknown[]).length;
  };
  expect(await listed()).toBe(1);
  await t.clock.advance(DAY - 1_000_000);
  await t.relay.tick();
  expect(await listed()).toBe(1);
  await t.clock.advance(1_000_000);
  await t.relay.tick();
  expect(await listed()).toBe(0);
  expect((await t.as(boss, "GET", `${task.path}/evidence`)).status).toBe(404);
});

describe("finished tasks", () => {
  async function finished(env: Record<string, string>) {
    t = await startTestRelay(env);
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(60_000);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    return { boss, worker, task };
  }

  test("a finished task can be polled for 30 days, and its settlement stays", async () => {
    const { boss, worker, task } = await finished({});
    const before = await getAgentStates(t, [boss, worker]);
    expect(await statusAfter(30 * DAY - 1, task)).toBe(200);
    expect(await statusAfter(60_001, task)).toBe(404);
    expect(await getAgentStates(t, [boss, worker])).toEqual(before);
    await expectConsistentBooks(t, { holds: 0, fees: 0.1 });
  });

  test("a finished task can be polled for the configured number of days after its end, however long it took", async () => {
    t = await startTestRelay({
      AGENT_RETENTION_DAYS: "1",
      AGENT_TASK_TTL_MS: String(3 * DAY),
    });
    const [boss, worker] = [await t.createAgent(), await t.createAgent()];
    const slow = await submitAcceptedTask(t, boss, worker);
    expect(await statusAfter(2 * DAY, slow)).toBe(200);
    await t.as(worker, "POST", `${slow.path}/result`, createReceipt(worker, slow));
    expect(await statusAfter(DAY - 1, slow)).toBe(200);
    expect(await statusAfter(60_001, slow)).toBe(404);
  });

  test("a finished task can be polled for ever if the retention is 0 days", async () => {
    const { task } = await finished({ AGENT_RETENTION_DAYS: "0" });
    expect(await statusAfter(1_000 * DAY, task)).toBe(200);
  });

  test("a finished task is purged with thousands of others in one round", async () => {
    t = await startTestRelay({ AGENT_RETENTION_DAYS: "1" });
    const [boss, worker] = [await t.createAgent(), await t.createAgent()];
    for (let i = 0; i < 3; i += 1) {
      const many = await Promise.all(
        Array.from({ length: 400 }, () => submitTask(t, boss, worker)),
      );
      const token = await t.token(boss);
      await Promise.all(
        many.map(({ body }) => {
          const path = `/agent/${worker.agentId}/task/${String(body["task_id"])}/cancel`;
          return t.request("POST", path, { token });
        }),
      );
    }
    const list = () => t.asOperator("GET", `/agent/${worker.agentId}/tasks?limit=200`);
    expect((await list()).body["tasks"]).toHaveLength(200);
    await t.clock.advance(DAY + 60_000);
    await t.relay.tick();
    expect((await list()).body["tasks"]).toEqual([]);
  });
});
