import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replayRanking, type RoutingRecord } from "@agent/routing-semiring";
import type { TestAgent } from "@agent/testkit";
import { readStored } from "../../test/engine/stored.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let workers: TestAgent[];
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 100);
  workers = [await createSeller(t, 1), await createSeller(t, 2), await createSeller(t, 3)];
});
afterEach(() => t.close());

const required = { required_capabilities: ["summarise"] };
const submit = (more: object = {}) =>
  submitAcceptedTask(t, boss, workers[0]!, { ...required, ...more });

async function recordOf({ path }: Pick<Delegation, "path">): Promise<RoutingRecord> {
  const reply = await t.as(boss, "GET", `${path}/routing`);
  expect(reply.status).toBe(200);
  return reply.body as unknown as RoutingRecord;
}

const choiceOf = async ({ path }: Pick<Delegation, "path">) => {
  const { body } = await t.as(boss, "GET", path);
  return (body["task"] as { routing_choice: unknown }).routing_choice;
};

describe("scored decisions", () => {
  test("a scored decision can be reproduced from its stored record alone", async () => {
    const first = await submit({ max_budget: 3 });
    const choice = await choiceOf(first);
    for (const worker of workers.slice(1)) {
      const task = await submitAcceptedTask(t, boss, worker);
      await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    }
    const record = await recordOf(first);
    expect(record).toMatchObject({
      algorithm: "agent-routing@4",
      from: boss.agentId,
      max_budget: null,
      price_cap: 3,
      ...required,
    });
    expect(record.candidates.map(({ agent_id }) => agent_id).toSorted()).toEqual(
      workers.map(({ agentId }) => agentId).toSorted(),
    );
    expect(record.choice).toEqual(choice);
    expect(replayRanking(record)).toEqual(choice);
  });

  test("a scored decision can be reproduced with the trust routes that it used", async () => {
    const link = await createBuyer(t, 10);
    const far = workers[1]!;
    for (const [from, to] of [
      [boss, link],
      [link, far],
    ] as const) {
      const task = await submitAcceptedTask(t, from, to);
      await t.as(to, "POST", `${task.path}/result`, createReceipt(to, task));
    }
    const task = await submit();
    const record = await recordOf(task);
    expect(record.graph.map(({ from, to }) => [from, to])).toEqual([
      [link.agentId, far.agentId],
      [boss.agentId, link.agentId],
    ]);
    expect(replayRanking(record)).toEqual(await choiceOf(task));
  });

  test("a scored decision can be reproduced with its exploration, by the seed", async () => {
    const chosen = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      const record = await recordOf(await submit({ exploration_drive: 1 }));
      expect(replayRanking(record)).toEqual(record.choice);
      chosen.add(record.choice!.selected_agent);
    }
    expect(chosen.size).toBeGreaterThan(1);
  });

  test("a scored decision is the same after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-routing-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env);
    const [payer, worker] = [await createBuyer(before, 10), await createSeller(before, 1)];
    const { path } = await submitAcceptedTask(before, payer, worker, required);
    const kept = await before.as(payer, "GET", `${path}/routing`);
    await before.close();
    const after = await startTestRelay(env, 2);
    expect((await after.as(payer, "GET", `${path}/routing`)).body).toEqual(kept.body);
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

test("a decision contains the submitter's own view of candidates, so only the submitter can read it", async () => {
  const { path } = await submit();
  const selected = workers.find(({ agentId }) => path.includes(agentId))!;
  const refused = { status: 403, body: { code: "task.not_submitter" } };
  expect(await t.as(selected, "GET", `${path}/routing`)).toMatchObject(refused);
  expect(await t.asOperator("GET", `${path}/routing`)).toMatchObject({ status: 200 });
});

test("a task without scored routing has no decision", async () => {
  const { path } = await submitAcceptedTask(t, boss, workers[0]!);
  const none = { status: 404, body: { code: "routing.not_found" } };
  expect(await t.as(boss, "GET", `${path}/routing`)).toMatchObject(none);
});

test("a decision is purged with its task", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-routing-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  const short = await startTestRelay({ AGENT_DB_PATH, AGENT_TASK_TTL_MS: "1000" });
  const [payer, worker] = [await createBuyer(short, 10), await createSeller(short, 1)];
  const { path } = await submitAcceptedTask(short, payer, worker, required);
  await short.clock.advance(1_000);
  await short.relay.tick();
  expect(await short.as(payer, "GET", `${path}/routing`)).toMatchObject({ status: 404 });
  await short.clock.advance(3_600_000);
  const later = await submitAcceptedTask(short, payer, worker, required);
  await short.relay.tick();
  await short.close();
  const kept = await readStored(AGENT_DB_PATH, "SELECT task_id FROM routing_decisions");
  expect(kept).toEqual([{ task_id: later.task_id }]);
  rmSync(folder, { recursive: true });
});
