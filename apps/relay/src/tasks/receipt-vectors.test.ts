import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDepositPostings, toMicro } from "@agent/budget";
import {
  createManualClock,
  loadReceiptVectors,
  createSeededRandom,
  createTestAgent,
  type ReceiptVector,
  type TestAgent,
} from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectConsistentBooks, getAgentStates } from "../../test/market.ts";
import { createTaskRow } from "../../test/stored/task-row.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { reserveHold } from "../budget/reserve-hold.ts";
import { postMovement } from "../budget/post-movement.ts";
import { newId } from "../runtime.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { acquireTaskSlot } from "./submission/task-quota.ts";
import { insertTask } from "./store.ts";

const price = toMicro(1);

const vectors = loadReceiptVectors();
// JSON.parse uses the last of two members of one name, and that one was signed (docs/decisions.md, 11).
const isAccepted = ({ expect: verdict, cls }: ReceiptVector) =>
  verdict === "valid" || cls === "duplicate-member";

/** The executor of each task: the signer of the honest receipt, if there is one. */
const executors = new Map<string, string>();
for (const { task, receipt } of vectors.toSorted(
  (a, b) => Number(isAccepted(b)) - Number(isAccepted(a)),
)) {
  const { agent_id } = JSON.parse(receipt) as { agent_id: string };
  if (!executors.has(task)) executors.set(task, agent_id);
}
const keys = new Map<string, string>();
for (const { task, key } of vectors) {
  const executor = executors.get(task)!;
  if (!keys.has(executor)) keys.set(executor, key);
}

let t: TestRelay;
let boss: TestAgent;
const folder = mkdtempSync(join(tmpdir(), "relay-vectors-"));

/** The ids in the vectors are signed, so their tasks cannot be submitted and are inserted. */
beforeAll(async () => {
  const path = join(folder, "relay.db");
  const world = { ...createManualClock(), ...createSeededRandom(1) };
  boss = createTestAgent(world);
  const opened = await openMigrated({ path, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { storage } = opened;
  await storage.transaction((tx) => {
    const paidIn = buildDepositPostings({ agentId: boss.agentId, amount: toMicro(1_000) });
    return postMovement(tx, world, paidIn, { reference: null, description: null });
  });
  for (const [taskId, executor] of executors) {
    await storage.transaction(async (tx) => {
      const request = { payerId: boss.agentId, taskId, charge: price, maxBudget: price };
      const hold = await reserveHold(tx, world, request);
      if (!hold.ok) return hold;
      await acquireTaskSlot(tx, { submitter: boss.agentId, charge: price });
      return insertTask(tx, rowOf(taskId, executor, newId(world), world.now()));
    });
  }
  await storage.close();
  t = await startTestRelay({ AGENT_DB_PATH: path }, 2);
  for (const [agent_id, public_key] of keys) {
    const body = { agent_id, public_key };
    await t.request("POST", "/api/v1/agents/bootstrap", { body });
  }
});
afterAll(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

function rowOf(task_id: string, executor: string, allocation_id: string, now: number): TaskRow {
  return createTaskRow({
    task_id,
    agent_id: executor,
    submitted_by: boss.agentId,
    submitted_at: now,
    expires_at: now + 900_000,
    attempts: JSON.stringify([{ agent_id: executor, charge: price }]),
    charge: price,
    locked: price,
    allocation_id,
  });
}

const deliver = ({ task, receipt }: ReceiptVector) =>
  t.request("POST", `/agent/${executors.get(task)}/task/${task}/result`, {
    token: OPERATOR_TOKEN,
    raw: receipt,
  });

const titled = (some: readonly ReceiptVector[]) =>
  some.map((vector) => [vector.id, vector.cls, vector.why, vector] as const);

describe("refused vectors", () => {
  test.each(titled(vectors.filter((vector) => !isAccepted(vector))))(
    "the result endpoint refuses vector %i %s: %s",
    async (_id, _cls, _why, vector) => {
      const before = await getAgentStates(t, [boss]);
      const { status, body } = await deliver(vector);
      expect([400, 403]).toContain(status);
      expect(body["code"]).toMatch(/^receipt\./);
      expect(await getAgentStates(t, [boss])).toEqual(before);
    },
  );
});

describe("correct vectors after the refused ones", () => {
  test.each(titled(vectors.filter(isAccepted)))(
    "the result endpoint accepts vector %i %s: %s",
    async (_id, _cls, _why, vector) => {
      const { status } = JSON.parse(vector.receipt) as { status: string };
      expect(await deliver(vector)).toMatchObject({ status: 200, body: { status } });
      await expectConsistentBooks(t);
    },
  );

  test("RC16 every bad nested receipt is reported, and no other one is", () => {
    const bad = t.listLogged("delegation_receipt.signature_invalid");
    expect(bad).not.toEqual([]);
    for (const { task, nested = [] } of vectors.filter(({ nested }) => nested !== undefined)) {
      const named = bad.filter(({ correlationId }) => correlationId === task);
      expect(named).toHaveLength(nested.filter((verdict) => verdict === "invalid").length);
    }
  });

  test("each task of a vector is paid once, according to the status of its receipt", async () => {
    const settled = new Map(
      vectors
        .filter(isAccepted)
        .map(({ task, receipt }) => [task, (JSON.parse(receipt) as { status: string }).status]),
    );
    const paid = [...settled.values()].filter((status) => status === "completed").length;
    const open = executors.size - settled.size;
    expect(await t.getBalance(boss)).toBe(1_000 - paid - open);
    await expectConsistentBooks(t, { holds: open, fees: Number((paid * 0.05).toFixed(6)) });
  });
});
