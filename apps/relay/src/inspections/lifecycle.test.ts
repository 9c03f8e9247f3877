import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLoopbackServer } from "@agent/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { DAY_MS, startJumpingRelay } from "../../test/processes/clock-jump-relay.ts";
import { credentialsPath } from "../../test/agents/credentials.ts";
import { serveTestRelay } from "../../test/devices.ts";
import { editStored } from "../../test/engine/stored.ts";
import {
  beginCase,
  beginDispute,
  type Case,
  createParties,
  decide,
  deliver,
  getCase,
  giveVerdict,
  passDeadline,
  submitInspected,
} from "../../test/inspections.ts";
import { storeLedger, createLedger } from "../../test/agents/ledgers.ts";
import { expectConsistentBooks, getAgentStates, submitAcceptedTask } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const open: TestRelay[] = [];
afterEach(async () => {
  for (const relay of open.splice(0)) await relay.close();
});

async function start(...args: Parameters<typeof startTestRelay>): Promise<TestRelay> {
  const t = await startTestRelay(...args);
  open.push(t);
  return t;
}

const trustOf = async (t: TestRelay, { boss }: Case) =>
  (await getAgentStates(t, [boss]))[0]?.trust ?? [];

describe("the trust of an inspected task", () => {
  test("an inspected task changes no trust and leads to no credential before its inspection has closed", async () => {
    const t = await start({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
    const given = await beginCase(t, await createParties(t));
    expect(await trustOf(t, given)).toEqual([]);
    const credentials = async () =>
      (await t.asOperator("GET", credentialsPath(given.worker))).body["credentials"] ?? [];
    expect(await credentials()).toEqual([]);
    await giveVerdict(t, given, "accepted");
    expect(await trustOf(t, given)).toMatchObject([{ successful_tasks: 1, failed_tasks: 0 }]);
    expect(await credentials()).not.toEqual([]);
  });

  test.each<[string, (t: TestRelay, given: Case) => Promise<unknown>, [number, number]]>([
    ["decided at 0.5", (t, given) => decide(t, given, 0.5), [1, 0]],
    ["decided at 0.499999", (t, given) => decide(t, given, 0.499999), [0, 1]],
    [
      "undecided",
      async (t, given) => {
        await passDeadline(t, given);
        await passDeadline(t, given);
      },
      [0, 0],
    ],
  ])(
    "trust records count the outcome of a case that is %s",
    async (_, end, [successful_tasks, failed_tasks]) => {
      const t = await start();
      const given = await beginDispute(t, await createParties(t));
      await end(t, given);
      expect(await trustOf(t, given)).toMatchObject([{ successful_tasks, failed_tasks }]);
    },
  );

  test("work that its own ledger calls incomplete is not counted as a success", async () => {
    const t = await start();
    const submitted = await submitInspected(t, await createParties(t));
    await storeLedger(t, submitted.worker, createLedger(submitted.worker, submitted.task.task_id));
    const given = await deliver(t, submitted);
    expect(await getCase(t, given)).toMatchObject({ due: 1, fee: 0.05 });
    await giveVerdict(t, given, "accepted");
    expect(await trustOf(t, given)).toMatchObject([{ successful_tasks: 0, failed_tasks: 0 }]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("the latency of an inspected task ends with the receipt, not with the inspection", async () => {
    const t = await start();
    const submitted = await submitInspected(t, await createParties(t));
    await t.clock.advance(7_000);
    const given = await deliver(t, submitted);
    await t.clock.advance(50_000);
    await giveVerdict(t, given, "accepted");
    expect(await trustOf(t, given)).toMatchObject([{ avg_latency_ms: 7_000 }]);
  });
});

describe("the deadlines of an inspection", () => {
  test("the deadlines of an inspection do not advance while the relay is frozen", async () => {
    const t = await start();
    const given = await beginCase(t, await createParties(t));
    const { deadline } = await getCase(t, given);
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "test" });
    await t.clock.advance(120_000);
    await t.relay.tick();
    expect((await giveVerdict(t, given, "accepted")).status).toBe(503);
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect(await getCase(t, given)).toMatchObject({
      state: "inspecting",
      deadline: deadline! + 120_000,
    });
  });

  test("IS9: a start of the relay extends the deadline of each state only once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-inspections-"));
    const AGENT_DB_PATH = join(folder, "relay.db");
    let t = await startTestRelay({ AGENT_DB_PATH });
    const given = await beginCase(t, await createParties(t));
    const reopen = async (seed: number, ms: number) => {
      await t.clock.advance(ms);
      await t.close();
      t = await startTestRelay({ AGENT_DB_PATH }, seed, t.clock);
      return getCase(t, given);
    };
    // The window of a minute is over while the relay is down.
    const moved = await reopen(2, 90_000);
    expect(moved).toMatchObject({ state: "inspecting", deadline: t.clock.now() + 60_000 });
    expect((await reopen(3, 30_000)).deadline).toBe(moved.deadline);
    await giveVerdict(t, given, "rejected");
    const answer = await getCase(t, given);
    const later = await reopen(4, 259_200_000);
    expect(later).toMatchObject({ state: "rejected", deadline: answer.deadline! + 600_000 });
    await t.clock.advance(600_000);
    await t.relay.tick();
    expect(await getCase(t, given)).toMatchObject({ outcome: { outcome: "unanswered" } });
    await expectConsistentBooks(t, { holds: 0 });
    await t.close();
    rmSync(folder, { recursive: true });
  });

  test("IS9: a clock that jumps ahead and back ends no state early, and passing time ends it as usual", async () => {
    const t = await startJumpingRelay({ AGENT_DISPUTE_ANSWER_MS: "60000" });
    open.push(t);
    const parties = await createParties(t);
    const [given, silent] = [await beginCase(t, parties), await beginCase(t, parties)];
    const { deadline } = await getCase(t, given);
    for (const ahead of [3 * DAY_MS, 0, -3 * DAY_MS, 30 * DAY_MS]) {
      t.setAhead(ahead);
      await t.advance(5_000);
      expect(await getCase(t, given)).toMatchObject({ state: "inspecting", deadline });
    }
    expect((await giveVerdict(t, given, "rejected", { offer: 0.25 })).status).toBe(200);
    await t.advance(41_000);
    expect(await getCase(t, silent)).toMatchObject({ outcome: { outcome: "lapsed" } });
    expect(await getCase(t, given)).toMatchObject({ state: "rejected" });
    await t.advance(20_000);
    expect(await getCase(t, given)).toMatchObject({ outcome: { outcome: "unanswered" } });
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("the deadlines of an inspection end by the clock alone, one after the other", async () => {
    const t = await start();
    const given = await beginDispute(t, await createParties(t));
    const { deadline } = await getCase(t, given);
    await t.clock.advance(deadline! - t.clock.now() + 604_799_999);
    await t.relay.tick();
    expect(await getCase(t, given)).toMatchObject({
      state: "disputed",
      deadline: deadline! + 604_800_000,
    });
    await t.clock.advance(1);
    await t.clock.advance(1_000);
    await t.relay.tick();
    expect(await getCase(t, given)).toMatchObject({
      outcome: { outcome: "undecided", share: 0.5 },
    });
  });
});

test("IS7: the texts of an inspected task are kept until its inspection has closed", async () => {
  const t = await start();
  const given = await beginCase(t, await createParties(t));
  const erase = () => t.as(given.boss, "DELETE", `/api/v1/admin/tasks/${given.task.task_id}/texts`);
  expect((await erase()).body["code"]).toBe("task.not_finished");
  await giveVerdict(t, given, "accepted");
  expect((await erase()).status).toBe(200);
});

test.each(["submitter", "operator"] as const)(
  "IS21: the %s cannot erase work inside an inspected result before its inspection has closed",
  async (by) => {
    const t = await start();
    const [parties, inner] = [await createParties(t), await createParties(t)];
    const submitted = await submitInspected(t, parties);
    // The submitter of both tasks may erase the copy in the outer receipt too.
    const part = await submitAcceptedTask(t, parties.boss, inner.worker);
    const nested = createReceipt(inner.worker, part, { result: "the seventh row" });
    await t.as(inner.worker, "POST", `${part.path}/result`, nested);
    const receipt = createReceipt(parties.worker, submitted.task, {
      delegation_receipts: [nested],
    });
    await t.as(parties.worker, "POST", `${submitted.task.path}/result`, receipt);
    const given = { ...submitted, receiptHash: (await getCase(t, submitted)).receipt_hash };
    const path = `/api/v1/admin/tasks/${part.task_id}/texts`;
    const erase = () =>
      by === "operator" ? t.asOperator("DELETE", path) : t.as(parties.boss, "DELETE", path);
    const isShown = async () =>
      (await t.asOperator("GET", `${given.task.path}/evidence`)).text.includes("the seventh row");
    expect((await erase()).body["code"]).toBe("task.not_finished");
    expect(await isShown()).toBe(true);
    await giveVerdict(t, given, "accepted");
    expect(await erase()).toMatchObject({ status: 200, body: { copies_left: 0 } });
    expect(await isShown()).toBe(false);
  },
);

test("a block between the parties or the arbiter does not affect a case that has begun", async () => {
  const t = await start();
  const parties = await createParties(t);
  const given = await beginCase(t, parties, { arbiter_id: parties.arbiter.agentId });
  const all = [parties.boss, parties.worker, parties.arbiter];
  for (const by of all) {
    for (const { agentId } of all.filter((agent) => agent !== by)) {
      const path = `/api/v1/agents/${by.agentId}/trust/${agentId}`;
      expect((await t.as(by, "PUT", path, { trust_level: "blocked" })).status).toBe(200);
    }
  }
  await giveVerdict(t, given, "rejected");
  await giveVerdict(t, given, "contested");
  expect(await getCase(t, given)).toMatchObject({ arbiter_id: parties.arbiter.agentId });
  expect((await decide(t, given, 0.75)).status).toBe(200);
  await expectConsistentBooks(t, { holds: 0 });
});

test.each([
  ["its fee", "fee = fee + 1"],
  ["its bond", "bond = 0"],
  ["its end", "deadline = NULL, closed_at = 1"],
])("the books show an inspection of which %s was changed", async (_, change) => {
  const folder = mkdtempSync(join(tmpdir(), "relay-inspections-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  let t = await startTestRelay({ AGENT_DB_PATH });
  const { task } = await beginDispute(t, await createParties(t));
  await expectConsistentBooks(t);
  await t.close();
  await editStored(AGENT_DB_PATH, `UPDATE inspections SET ${change}`);
  t = await startTestRelay({ AGENT_DB_PATH }, 2, t.clock);
  const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
  const checks = body["checks"] as { code: string }[];
  expect(checks.find(({ code }) => code === "inspection_mismatch")).toMatchObject({
    ok: false,
    ids: [task.task_id],
  });
  await t.close();
  rmSync(folder, { recursive: true });
});

test("webhooks and sockets notify the parties and the arbiter in charge, without the stated reasons", async () => {
  const bodies: { type: string; data: Record<string, unknown> }[] = [];
  const receiver = await startLoopbackServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      bodies.push(JSON.parse(text) as (typeof bodies)[number]);
      response.writeHead(204).end();
    });
  });
  const url = `${receiver.url}/hook`;
  const t = await serveTestRelay({ AGENT_PRIVATE_ENDPOINTS: "allow" });
  try {
    const parties = await createParties(t);
    const events = [
      "task.inspecting",
      "task.rejected",
      "task.disputed",
      "task.settled",
      "settlement.created",
    ];
    for (const { agentId } of [parties.boss, parties.worker, parties.arbiter]) {
      const made = await t.asOperator("POST", `/api/v1/agents/${agentId}/webhooks`, {
        url,
        events,
      });
      expect(made.status).toBe(201);
    }
    const device = await t.connectDevice(parties.arbiter);
    const given = await beginDispute(t, parties);
    expect(await device.next("task_disputed")).toMatchObject({
      task_id: given.task.task_id,
      outcome: null,
    });
    await decide(t, given, 0.75);
    expect(await device.next("task_settled")).toMatchObject({ outcome: "decided", share: 0.75 });
    for (let round = 0; round < 5; round += 1) {
      await t.clock.advance(1_000);
      await t.relay.tick();
    }
    await t.relay.idle();
    const counted = Object.fromEntries(
      Object.entries(Object.groupBy(bodies, ({ type }) => type)).map(([type, all]) => [
        type,
        all?.length,
      ]),
    );
    expect(counted).toEqual({
      "task.inspecting": 1,
      "task.rejected": 1,
      "task.disputed": 3,
      "task.settled": 3,
      "settlement.created": 2,
    });
    expect(JSON.stringify(bodies)).not.toContain("missing");
  } finally {
    await t.stop();
    await receiver.close();
  }
});
