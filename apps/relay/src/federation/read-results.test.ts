import { createHeartbeat } from "@agent/federation-protocol/peering";
import { hashReceipt, type ExecutionReceipt } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, describe, expect, test } from "vitest";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { getReconciliation, waitUntil, getPeer } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const EXPIRES_MS = 600_000;
/** A time that is longer than a hold lasts. */
const HOLD_MS = 6 * 3_600_000;
/** A time that is longer than the longest pause between two attempts to send a result. */
const RETRY_MS = 7_800_000;
/** The clocks of two peers may differ by this much. */
const CLOCK_DIFFERENCE_MS = 300_000;
const CREDIT_FOR_ONE_TASK = "1";

/** The peer's answer to a result; undefined breaks the connection. */
type Answer = { readonly status: number; readonly code?: string } | undefined;

let t: TestRelay;
let server: ListeningPeer;
let peer: FakePeer;
let worker: TestAgent;
let answerResult: () => Answer = () => undefined;

afterEach(async () => {
  await t.close();
  await server.close();
});

async function start(): Promise<void> {
  t = await startTestRelay({
    AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test",
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_FEDERATION_CREDIT_LIMIT: CREDIT_FOR_ONE_TASK,
  });
  let notices = 0;
  server = await startListeningPeer(({ path }, response) => {
    if (path.endsWith("/peer/heartbeat")) {
      notices += 1;
      const timestamp = t.clock.now() + notices;
      const notice = { relay_id: peer.relayId, timestamp, agent_count: 0, to: t.relay.relayId };
      return createHeartbeat(notice, peer.secretKey);
    }
    if (!path.endsWith("/task/result")) return {};
    const answer = answerResult();
    if (answer === undefined) return undefined;
    response.writeHead(answer.status, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ status: "pending", code: answer.code }));
  });
  peer = await createFakePeer(t, server.url).completeHandshake();
  worker = await t.createWorker(1);
}

const order = async () =>
  peer.forward({ target_agent: worker.agentId, public_key: worker.publicKey });

/** Orders a task, completes it after `work` and waits until the peer was sent its result. */
async function orderAndComplete(work?: () => Promise<unknown>): Promise<void> {
  const { status, body } = await order();
  expect(status).toBe(202);
  await complete(String(body["task_id"]), work);
}

async function complete(taskId: string, work: () => Promise<unknown> = async () => {}) {
  await work();
  const { body: list } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
  const task = (list["tasks"] as Task[]).find(({ task_id }) => task_id === taskId)!;
  const path = `/agent/${worker.agentId}/task/${taskId}`;
  const receipt = createReceipt(worker, task);
  expect(await t.as(worker, "POST", `${path}/result`, receipt)).toMatchObject({ status: 200 });
  const isSent = () => server.requests.some(({ path: sent }) => sent.endsWith("/task/result"));
  await waitUntil(isSent, "the result is sent");
  await runJobs();
}

/** A due result is sent before its hold ends, so both need a round of jobs. */
async function runJobs(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await t.relay.tick();
    await t.relay.idle();
  }
}

/** Advances the time in steps, so that the result is sent again whenever it is due. */
async function pass(ms: number): Promise<void> {
  const end = t.clock.now() + ms;
  while (t.clock.now() < end) {
    await t.clock.advance(600_000);
    await runJobs();
  }
}

const debtor = () => getPeer(t);
const countDefaults = () => t.listLogged("federation.settlement.defaulted").length;

describe("A9: a peer that reads a result in time and does not accept it", () => {
  test.each<[string, Answer]>([
    ["404 gets no work beyond its credit", { status: 404, code: "result.task_not_found" }],
    ["400 gets no work beyond its credit", { status: 400, code: "result.receipt_invalid" }],
    ["409 gets no work beyond its credit", { status: 409, code: "result.already_finished" }],
    ["202 for ever gets no work beyond its credit", { status: 202 }],
  ])("a peer that answers results with %s", async (_, answer) => {
    answerResult = () => answer;
    await start();
    await orderAndComplete();
    const refused = { status: 402, body: { code: "clearing.limit_exceeded" } };
    expect(await order()).toMatchObject(refused);
    expect(countDefaults()).toBe(0);
    await pass(HOLD_MS);
    expect(await debtor()).toMatchObject({ defaulted: 0.95 });
    expect(countDefaults()).toBe(1);
    expect(await order()).toMatchObject(refused);
    expect(await getReconciliation(t)).toMatchObject({ consistent: true });

    // The operator may find that the peer was right.
    const path = `/api/v1/admin/federation/peers/${peer.relayId}/clear-defaults`;
    const cleared = await t.asOperator("POST", path, { reason: "its database was lost" });
    expect(cleared).toMatchObject({ status: 200, body: { cleared: 0.95, tasks: 1 } });
    expect(await debtor()).toMatchObject({ defaulted: 0 });
    expect(await order()).toMatchObject({ status: 202 });
  });

  test("a peer that reads a result and does not accept it has one more failed outcome in its record", async () => {
    answerResult = () => ({ status: 404, code: "result.task_not_found" });
    await start();
    const getRecord = async () => {
      const path = `/api/v1/agents/${t.relay.relayId}/trust/${peer.relayId}`;
      return (await t.asOperator("GET", path)).body;
    };
    await orderAndComplete();
    expect(await getRecord()).not.toMatchObject({ failed_tasks: 1 });
    await pass(HOLD_MS);
    expect(await getRecord()).toMatchObject({ failed_tasks: 1 });
  });
});

describe("A9: a peer is not in default for a result", () => {
  const tooLate = { status: 404, code: "result.task_not_found" };

  test("a peer is not in default for a result that it gets only after the task's expiry", async () => {
    let expiresAt = Infinity;
    answerResult = () => (t.clock.now() >= expiresAt ? tooLate : undefined);
    await start();
    expiresAt = t.clock.now() + EXPIRES_MS;
    await orderAndComplete();
    await pass(HOLD_MS);
    expect(await debtor()).toMatchObject({ defaulted: 0, undecided: 0 });
    expect(countDefaults()).toBe(0);
    expect(await order()).toMatchObject({ status: 202 });
  });

  test.each<[string, Answer]>([
    ["that never reached it", undefined],
    ["that it cannot process while it is frozen", { status: 503, code: "server.frozen" }],
    ["that a proxy refused in its place", { status: 404 }],
  ])(
    "a peer is not in default for a result %s, and regains its credit once it answers",
    async (_, answer) => {
      answerResult = () => answer;
      await start();
      await orderAndComplete();
      await pass(HOLD_MS);
      expect(await debtor()).toMatchObject({ defaulted: 0, undecided: 0.95 });
      expect(countDefaults()).toBe(0);
      expect(await order()).toMatchObject({
        status: 402,
        body: { code: "clearing.limit_exceeded" },
      });
      answerResult = () => tooLate;
      await pass(RETRY_MS);
      expect(await debtor()).toMatchObject({ defaulted: 0, undecided: 0 });
      expect(countDefaults()).toBe(0);
      expect(await order()).toMatchObject({ status: 202 });
    },
  );
});

describe("A17: a peer is not in default for a result", () => {
  test("a peer whose clock is five minutes ahead is not in default for a result that it refuses after the expiry", async () => {
    answerResult = () => ({ status: 404, code: "result.task_not_found" });
    await start();
    await orderAndComplete(() => t.clock.advance(EXPIRES_MS - CLOCK_DIFFERENCE_MS + 1_000));
    // Its refusal may be false, so its credit stays used up for as long as the relay waits for a settlement.
    expect(await order()).toMatchObject({ status: 402 });
    await pass(HOLD_MS);
    expect(await debtor()).toMatchObject({ defaulted: 0 });
    expect(countDefaults()).toBe(0);
    expect(await order()).toMatchObject({ status: 202 });
    expect(await getReconciliation(t)).toMatchObject({ consistent: true });
  });

  test("a peer is not in default for a result that it refuses after the requested end, even if a freeze moved that", async () => {
    answerResult = () => ({ status: 404, code: "result.task_not_found" });
    await start();
    await orderAndComplete(async () => {
      await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "a backup" });
      await t.clock.advance(EXPIRES_MS);
      await t.asOperator("POST", "/api/v1/admin/unfreeze");
    });
    await pass(HOLD_MS);
    expect(await debtor()).toMatchObject({ defaulted: 0 });
    expect(countDefaults()).toBe(0);
    expect(await order()).toMatchObject({ status: 202 });
  });
});

describe("MN38: a peer that refuses each result when it may be too late", () => {
  const tooLate: Answer = { status: 404, code: "result.task_not_found" };
  /** Orders and completes tasks until the peer has no credit left, and returns how many it got. */
  async function countTasks(passTask: () => Promise<void>, work?: () => Promise<unknown>) {
    for (let tasks = 0; tasks < 6; tasks += 1) {
      const { status, body } = await order();
      if (status === 402) return tasks;
      await complete(String(body["task_id"]), work);
      await passTask();
    }
    return Infinity;
  }

  test.each<[string, () => Promise<number>]>([
    [
      "that is silent until the end of each task",
      () => {
        let expiresAt = t.clock.now() + EXPIRES_MS;
        answerResult = () => (t.clock.now() >= expiresAt ? tooLate : undefined);
        return countTasks(async () => {
          await pass(EXPIRES_MS + RETRY_MS);
          expiresAt = t.clock.now() + EXPIRES_MS;
        });
      },
    ],
    [
      "whose tasks all end within five minutes",
      () => {
        answerResult = () => tooLate;
        const toEnd = EXPIRES_MS - CLOCK_DIFFERENCE_MS + 1_000;
        return countTasks(
          () => pass(HOLD_MS),
          () => t.clock.advance(toEnd),
        );
      },
    ],
  ])(
    "MN38: a peer %s gets unpaid work for at most twice its credit, until the operator decides",
    async (_, run) => {
      await start();
      expect(await run()).toBe(2);
      expect(await debtor()).toMatchObject({ defaulted: 0, position: 0 });
      // The first refused result is within the limit; further ones are not logged again.
      expect(t.listLogged("federation.result.refused_beyond_credit")).toMatchObject([
        { level: "warn", relay_id: peer.relayId, refused: 1.9, credit_limit: 1 },
      ]);
      expect(countDefaults()).toBe(0);
      const path = `/api/v1/admin/federation/peers/${peer.relayId}/clear-defaults`;
      const cleared = await t.asOperator("POST", path, { reason: "its clock was wrong" });
      expect(cleared).toMatchObject({ status: 200, body: { cleared: 1.9, tasks: 2 } });
      expect(await order()).toMatchObject({ status: 202 });
      expect(await getReconciliation(t)).toMatchObject({ consistent: true });
    },
  );
});

describe("MN48: a peer that ends the peering after a worker has delivered", () => {
  const endPeering = async () => {
    // The notice must be newer than the heartbeats.
    await t.clock.advance(1_000);
    expect(await peer.remove()).toMatchObject({ status: 200 });
  };

  test.each<[string, Answer, object]>([
    ["has accepted the result", { status: 200 }, { defaulted: 0.95, undecided: 0 }],
    [
      "has refused the result",
      { status: 404, code: "result.task_not_found" },
      { defaulted: 0.95, undecided: 0 },
    ],
    ["does not answer", undefined, { defaulted: 0, undecided: 0.95 }],
    [
      "refuses it as that of a removed peer",
      { status: 403, code: "federation.signature_invalid" },
      { defaulted: 0, undecided: 0.95 },
    ],
  ])(
    "MN48: a peer that %s and ends the peering gets no work beyond its credit when it returns",
    async (_, answer, owed) => {
      answerResult = () => answer;
      await start();
      await orderAndComplete();
      await endPeering();
      await peer.completeHandshake();
      expect(await order()).toMatchObject({ status: 402 });
      await endPeering();
      await pass(HOLD_MS);
      await peer.completeHandshake();
      expect(await debtor()).toMatchObject({ state: "active", credit_limit: 1, ...owed });
      expect(await order()).toMatchObject({ status: 402 });
      expect(await getReconciliation(t)).toMatchObject({ consistent: true });
    },
  );

  test("MN48: a peer that settles after it has ended the peering pays the worker and regains its credit", async () => {
    answerResult = () => undefined;
    await start();
    await orderAndComplete();
    await endPeering();
    const { body: result } = server.requests.find(({ path }) => path.endsWith("/task/result"))!;
    const receipt = result["receipt"] as ExecutionReceipt;
    const settlement = peer.createSettlement({
      task_id: receipt.task_id,
      agent_id: worker.agentId,
      receipt_hash: hashReceipt(receipt),
    });
    const path = "/federation/v1/settlement/forward";
    expect(await peer.post(path, settlement)).toMatchObject({ status: 200 });
    expect(await t.getBalance(worker)).toBe(0.9025);
    await peer.completeHandshake();
    expect(await order()).toMatchObject({ status: 402 });
    const payment = { amount: 0.95, direction: "received", reference: "wire 1" };
    const settled = `/api/v1/admin/federation/peers/${peer.relayId}/settle`;
    expect(await t.asOperator("POST", settled, payment)).toMatchObject({ status: 200 });
    expect(await order()).toMatchObject({ status: 202 });
    expect(await debtor()).toMatchObject({ defaulted: 0, undecided: 0 });
  });

  test("MN48: a peer that has ended the peering can neither order nor heartbeat, and settles no task of another", async () => {
    answerResult = () => undefined;
    await start();
    await orderAndComplete();
    await endPeering();
    const refused = { status: 403, body: { code: "federation.signature_invalid" } };
    expect(await order()).toMatchObject(refused);
    expect(await peer.heartbeat()).toMatchObject(refused);
    const settlement = peer.createSettlement({
      task_id: "0199c800-0000-7000-8000-000000000001",
      agent_id: worker.agentId,
      receipt_hash: "0".repeat(64),
    });
    expect(await peer.post("/federation/v1/settlement/forward", settlement)).toMatchObject({
      status: 404,
      body: { code: "settlement.not_owed" },
    });
  });
});
