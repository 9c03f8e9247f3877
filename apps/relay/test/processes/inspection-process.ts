import { randomBytes } from "node:crypto";
import { createReceipt, createTestAgent, createToken, type TestAgent } from "@agent/testkit";
import type { Inspection } from "@agent/wire";
import { expect } from "vitest";
import { type Case, type Parties, signDecision, signVerdict } from "../inspections.ts";
import { requestJson } from "../load.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";

const world = { now: Date.now, randomBytes };
const real = { clock: world };

/** Calls a relay in a separate process as its agents and its operator. */
function createCaller(baseUrl: string, did: string) {
  const asOperator = (method: string, path: string, body?: object) =>
    requestJson(`${baseUrl}${path}`, OPERATOR_TOKEN, method, body);
  const as = async (agent: TestAgent, method: string, path: string, body?: object) =>
    requestJson(`${baseUrl}${path}`, await createToken(agent, did, world), method, body);
  return { asOperator, as };
}
export type RelayCaller = ReturnType<typeof createCaller>;

/** Creates a caller for a relay that listens at an address. */
export async function createCallerOf(baseUrl: string): Promise<RelayCaller> {
  const { body } = await requestJson(`${baseUrl}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  return createCaller(baseUrl, body["did"] as string);
}

async function createAgent({ asOperator }: RelayCaller, listing?: object): Promise<TestAgent> {
  const agent = createTestAgent(world);
  const { agentId: agent_id, publicKey: public_key } = agent;
  const { body } = await asOperator("POST", "/api/v1/agents/bootstrap", { agent_id, public_key });
  await asOperator("POST", `/api/v1/agents/${agent_id}/deposit`, { amount: 100 });
  if (listing !== undefined) {
    const listed = await asOperator("POST", `/api/v1/agents/${agent_id}/listing`, listing);
    expect(listed.status).toBe(200);
  }
  return { ...agent, deviceId: body["device_id"] as string };
}

/** Creates parties with 100 USD each; the worker charges 2. */
export async function createRealParties(caller: RelayCaller, window_ms: number): Promise<Parties> {
  const arbiter = await createAgent(caller, { capabilities: [], arbitrates: true });
  const worker = await createAgent(caller, {
    capabilities: ["work"],
    pricing: [{ capability: "work", unit_cost: 2 }],
    acceptance: { window_ms, arbiters: [arbiter.agentId] },
  });
  return { boss: await createAgent(caller), worker, arbiter };
}

/** Submits a task with the named arbiter, and delivers its receipt. */
export async function beginRealCase(caller: RelayCaller, parties: Parties): Promise<Case> {
  const { boss, worker, arbiter } = parties;
  const acceptance = { arbiter_id: arbiter.agentId };
  const body = { prompt: "work", acceptance };
  const answer = await caller.as(boss, "POST", `/agent/${worker.agentId}/task`, body);
  expect(answer.status).toBe(201);
  const task_id = answer.body["task_id"] as string;
  const path = `/agent/${worker.agentId}/task/${task_id}`;
  const task = { task_id, prompt: "work", submitted_at: Date.now(), path };
  const delivered = await caller.as(worker, "POST", `${path}/result`, createReceipt(worker, task));
  expect(delivered.status).toBe(200);
  const given = { ...parties, task, receiptHash: "" };
  return { ...given, receiptHash: (await read(caller, given)).receipt_hash };
}

async function read({ asOperator }: RelayCaller, { task }: Case): Promise<Inspection> {
  const { body } = await asOperator("GET", `${task.path}/inspection`);
  return body as unknown as Inspection;
}

/** The statements that the parties may send, signed with the time of the real clock. */
export const realActs = {
  reject: ({ as }: RelayCaller, given: Case) =>
    as(
      given.boss,
      "POST",
      `${given.task.path}/verdict`,
      signVerdict(real, given, "rejected", { offer: 0.5 }),
    ),
  contest: ({ as }: RelayCaller, given: Case) =>
    as(given.worker, "POST", `${given.task.path}/verdict`, signVerdict(real, given, "contested")),
  concede: ({ as }: RelayCaller, given: Case) =>
    as(given.worker, "POST", `${given.task.path}/verdict`, signVerdict(real, given, "conceded")),
  decide: ({ as }: RelayCaller, given: Case) =>
    as(given.arbiter, "POST", `${given.task.path}/decision`, signDecision(real, given, 0.75)),
  accept: ({ as }: RelayCaller, given: Case) =>
    as(given.boss, "POST", `${given.task.path}/verdict`, signVerdict(real, given, "accepted")),
};

/** Waits with the relay's own long poll until each case was closed automatically. */
export async function waitUntilClosed(
  caller: RelayCaller,
  cases: readonly Case[],
): Promise<Inspection[]> {
  return Promise.all(
    cases.map(async (given) => {
      for (;;) {
        const path = `${given.task.path}/inspection?wait=5`;
        const { body } = await caller.asOperator("GET", path);
        if (body["state"] === "closed") return body as unknown as Inspection;
      }
    }),
  );
}

/** Expects one settlement for each case of the submitter, and consistent books. */
export async function expectSettledOnce(
  caller: RelayCaller,
  { boss }: Parties,
  count: number,
): Promise<void> {
  const { body } = await caller.as(boss, "GET", `/api/v1/agents/${boss.agentId}/settlements`);
  const settled = (body["settlements"] as { task_id: string }[]).map(({ task_id }) => task_id);
  expect(settled).toHaveLength(count);
  expect(new Set(settled).size).toBe(count);
  const books = await caller.asOperator("GET", "/api/v1/admin/reconciliation");
  expect(books.body).toMatchObject({ consistent: true, totals: { holds: 0 } });
}
