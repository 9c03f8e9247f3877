import type { TestAgent } from "@agent/testkit";
import type { TrustRecord } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 1)];
});
afterEach(() => t.close());

/** Completes a task that takes `ms` by the relay's clock, whatever its receipt states. */
async function work(
  status: "completed" | "failed" | "denied",
  { by = worker, ms = 0 }: { by?: TestAgent; ms?: number } = {},
): Promise<void> {
  const task = await submitAcceptedTask(t, boss, by);
  await t.clock.advance(ms);
  const answer = await t.as(by, "POST", `${task.path}/result`, createReceipt(by, task, { status }));
  expect(answer).toMatchObject({ status: 200 });
}

async function records(of = boss): Promise<TrustRecord[]> {
  const { body } = await t.as(of, "GET", `/api/v1/agents/${of.agentId}/trust`);
  return body["records"] as TrustRecord[];
}

describe("an agent's trust records", () => {
  test("a trust record exists only from the first task on, and only for the delegator", async () => {
    expect(await records()).toEqual([]);
    await work("completed");
    expect(await records(worker)).toEqual([]);
  });

  test("an agent's trust records are listed by executor for the operator only", async () => {
    await work("completed");
    const path = `/api/v1/admin/agents/${worker.agentId}/trust`;
    const received = await t.asOperator("GET", path);
    expect(received.body["records"]).toEqual(await records());
    expect((await t.as(worker, "GET", path)).body["code"]).toBe("auth.master_only");
    const none = await t.asOperator("GET", `/api/v1/admin/agents/${boss.agentId}/trust`);
    expect(none.body).toEqual({ records: [], next_cursor: null });
  });

  test("an agent's trust records hold the outcomes of its tasks, with times by the relay's clock", async () => {
    const first = t.clock.now();
    await work("completed", { ms: 300 });
    await work("completed", { ms: 100 });
    await work("failed", { ms: 5_000 });
    await work("denied", { ms: 7_000 });
    expect(await records()).toMatchObject([
      {
        agent_id: boss.agentId,
        remote_agent_id: worker.agentId,
        trust_level: "first_contact",
        first_seen_at: first + 300,
        last_seen_at: t.clock.now(),
        interaction_count: 4,
        successful_tasks: 2,
        failed_tasks: 1,
        trust_score: 0.3,
      },
    ]);
  });

  test.each([
    ["completed", 1, "first_contact", 0.3],
    ["completed", 4, "first_contact", 0.3],
    ["completed", 5, "verified", 0.6],
    ["completed", 20, "trusted", 0.9],
    ["failed", 1, "first_contact", 0.3],
    ["failed", 3, "unknown", 0.1],
    ["denied", 3, "unknown", 0.1],
  ] as const)(
    "a trust record has, after %s x %i, the level %s and the score %d",
    async (status, times, trust_level, trust_score) => {
      for (let i = 0; i < times; i += 1) await work(status);
      expect(await records()).toMatchObject([{ trust_level, trust_score }]);
    },
  );

  test("a self-submitted or anonymous task leads to no trust record", async () => {
    await work("completed", { by: boss });
    const free = await createSeller(t, 0);
    const path = `/agent/${free.agentId}/task`;
    const { body } = await t.asOperator("POST", path, { prompt: "work" });
    const task = { task_id: String(body["task_id"]), prompt: "work", submitted_at: t.clock.now() };
    const result = `${path}/${task.task_id}/result`;
    expect(await t.as(free, "POST", result, createReceipt(free, task))).toMatchObject({
      status: 200,
    });
    expect([await records(), await records(free)]).toEqual([[], []]);
  });

  test("an agent's trust records are listed page by page, each once, to their owner only", async () => {
    const workers = [worker, await createSeller(t, 1), await createSeller(t, 0)];
    for (const by of workers) await work("completed", { by });
    const path = `/api/v1/agents/${boss.agentId}/trust`;
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query = cursor === "" ? "limit=2" : `limit=2&cursor=${cursor}`;
      const { body } = await t.as(boss, "GET", `${path}?${query}`);
      seen.push(...(body["records"] as TrustRecord[]).map((record) => record.remote_agent_id));
      cursor = body["next_cursor"] as string | null;
    }
    expect(seen).toEqual(workers.map(({ agentId }) => agentId).toSorted());
    expect(await t.as(worker, "GET", path)).toMatchObject({ status: 403 });
    expect(await t.asOperator("GET", path)).toMatchObject({ status: 200 });
  });
});
