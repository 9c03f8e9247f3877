import type { RequestListener } from "node:http";
import {
  createReceipt,
  startLoopbackServer,
  type LoopbackServer,
  type TestAgent,
} from "@agent/testkit";
import { hashReceipt } from "@agent/receipts";
import { verifyArtifact } from "@agent/verify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  advanceUntil,
  closeSites,
  getReconciliation,
  startTwoSites,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

interface Message {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

let messages: Message[];
const receive: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    messages.push(JSON.parse(body) as Message);
    response.writeHead(204).end();
  });
};
let receiver: LoopbackServer;
let url: string;
beforeAll(async () => {
  receiver = await startLoopbackServer(receive);
  url = `${receiver.url}/hook`;
});
afterAll(() => receiver.close());

let chooseAction: (path: string) => ProxyAction;
let scene: TwoSites;
beforeEach(async () => {
  messages = [];
  chooseAction = () => "pass";
  const allow = { AGENT_PRIVATE_ENDPOINTS: "allow" };
  scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    alpha: allow,
    beta: allow,
  });
});
afterEach(() => closeSites([scene.a, scene.b], scene.proxies));

/** Has the worker of the other relay end a task of the boss, and returns the task's id and the receipt. */
async function work(status: "completed" | "failed" | "denied") {
  const { a, b, boss, worker } = scene;
  const submitted = await submitToBest(a, boss);
  const taskId = String(submitted.body["task_id"]);
  const task = await waitForTask(b, worker, taskId);
  const receipt = createReceipt(worker, task, { status });
  const path = `/agent/${task.agent_id}/task/${taskId}/result`;
  expect(await b.as(worker, "POST", path, receipt)).toMatchObject({ status: 200 });
  return { taskId, receipt };
}

async function listSettlements(site: TestSite, agent: TestAgent) {
  const { body } = await site.as(agent, "GET", `/api/v1/agents/${agent.agentId}/settlements`);
  return body["settlements"] as Record<string, unknown>[];
}

async function verifyEvidence(site: TestSite, { agentId }: TestAgent, taskId: string) {
  const url = `http://relay.test/agent/${agentId}/task/${taskId}/evidence`;
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const text = await (await site.relay.fetch(new Request(url, { headers }))).text();
  const { body } = await site.request("GET", "/.well-known/agent-relay.json");
  return verifyArtifact(text, { publicKey: String(body["public_key"]), taskId });
}

const advance = (what: string, stepMs: number, condition: () => Promise<boolean> | boolean) =>
  advanceUntil(scene.clock, [scene.a, scene.b], { stepMs, what }, condition);

describe("the settlement of a task that an agent of another relay executed", () => {
  test.each(["failed", "denied"] as const)(
    "a %s receipt is recorded as a refund of the whole hold",
    async (status) => {
      const { a, boss, worker } = scene;
      const { taskId, receipt } = await work(status);
      await waitUntil(async () => (await a.getBalance(boss)) === 10, "the hold comes back");
      expect(await listSettlements(a, boss)).toMatchObject([
        {
          task_id: taskId,
          receipt_hash: hashReceipt(receipt),
          status: "refunded",
          amount_settled: 0,
          fee: 0,
          net: 0,
          payer_id: boss.agentId,
          payee_id: worker.agentId,
          ledger_hash: null,
        },
      ]);
      expect(a.listLogged("settlement.created")).toMatchObject([
        { correlationId: taskId, status: "refunded", net: 0, fee: 0 },
      ]);
      expect(await getReconciliation(a)).toMatchObject({ consistent: true });
      expect(await verifyEvidence(a, boss, taskId)).toMatchObject({
        valid: true,
        checks: expect.arrayContaining([{ name: "settled", ok: true }]) as unknown,
      });
    },
  );

  test("the failure of free work has no settlement record", async () => {
    const { a, b, boss } = scene;
    scene = { ...scene, worker: await b.createWorker(0) };
    const { taskId } = await work("failed");
    await waitUntil(async () => {
      const { body } = await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
      return body["receipt"] !== null;
    }, "the result comes back");
    expect(await listSettlements(a, boss)).toEqual([]);
  });
});

describe("the webhook settlement.created between relays", () => {
  beforeEach(async () => {
    for (const [site, agent] of [
      [scene.a, scene.boss],
      [scene.b, scene.worker],
    ] as const) {
      await site.as(agent, "POST", `/api/v1/agents/${agent.agentId}/webhooks`, {
        url,
        events: ["settlement.created"],
      });
    }
  });

  test("payer and payee are each notified by their own relay once the work is paid", async () => {
    const { boss, worker } = scene;
    const { taskId } = await work("completed");
    await advance("both are notified", 1_000, () => messages.length === 2);
    const sorted = messages.toSorted(
      (one, other) => Number(other.data["net"]) - Number(one.data["net"]),
    );
    expect(sorted).toMatchObject([
      { data: { task_id: taskId, payer_id: boss.agentId, status: "completed", net: 0.95 } },
      { data: { task_id: taskId, payee_id: worker.agentId, status: "completed", net: 0.9025 } },
    ]);
  });

  test("the payer is notified that failed work is refunded", async () => {
    const { taskId } = await work("failed");
    await advance("the payer is notified", 1_000, () => messages.length === 1);
    expect(messages).toMatchObject([{ data: { task_id: taskId, status: "refunded", net: 0 } }]);
  });

  test("the payer is notified that a payment that never arrived is refunded", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "refuse" : "pass");
    const { taskId } = await work("completed");
    await advance("the payer is notified", 600_000, () => messages.length === 1);
    expect(messages).toMatchObject([{ data: { task_id: taskId, status: "refunded", net: 0 } }]);
  });
});
