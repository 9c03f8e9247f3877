import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceipt, createTestAgent, createToken, type TestAgent } from "@agent/testkit";
import type { Inspection } from "@agent/wire";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { type Case, type Parties, signDecision, signVerdict } from "../../test/inspections.ts";
import { requestJson } from "../../test/load.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), "relay-inspection-crash-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const world = { now: Date.now, randomBytes };
const real = { clock: world };

const env = {
  ...minimalEnv,
  AGENT_DB_PATH: join(folder, "relay.db"),
  AGENT_DISPUTE_WINDOW_MIN_MS: "100",
  AGENT_DISPUTE_ANSWER_MS: "1500",
  AGENT_DISPUTE_DECISION_MS: "1500",
};

/** A relay in a process of its own, called as its agents. */
function createCaller(baseUrl: string, did: string) {
  const asOperator = (method: string, path: string, body?: object) =>
    requestJson(`${baseUrl}${path}`, OPERATOR_TOKEN, method, body);
  const as = async (agent: TestAgent, method: string, path: string, body?: object) =>
    requestJson(`${baseUrl}${path}`, await createToken(agent, did, world), method, body);
  return { asOperator, as };
}
type Caller = ReturnType<typeof createCaller>;

async function callerOf(baseUrl: string): Promise<Caller> {
  const { body } = await requestJson(`${baseUrl}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  return createCaller(baseUrl, body["did"] as string);
}

async function createAgent({ asOperator }: Caller, listing?: object): Promise<TestAgent> {
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

async function createParties(caller: Caller, window_ms: number): Promise<Parties> {
  const arbiter = await createAgent(caller, { capabilities: [], arbitrates: true });
  const worker = await createAgent(caller, {
    capabilities: ["work"],
    pricing: [{ capability: "work", unit_cost: 2 }],
    acceptance: { window_ms, arbiters: [arbiter.agentId] },
  });
  return { boss: await createAgent(caller), worker, arbiter };
}

async function begin(caller: Caller, parties: Parties): Promise<Case> {
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

async function read({ asOperator }: Caller, { task }: Case): Promise<Inspection> {
  const { body } = await asOperator("GET", `${task.path}/inspection`);
  return body as unknown as Inspection;
}

const acts = {
  reject: ({ as }: Caller, given: Case) =>
    as(
      given.boss,
      "POST",
      `${given.task.path}/verdict`,
      signVerdict(real, given, "rejected", { offer: 0.5 }),
    ),
  contest: ({ as }: Caller, given: Case) =>
    as(given.worker, "POST", `${given.task.path}/verdict`, signVerdict(real, given, "contested")),
  decide: ({ as }: Caller, given: Case) =>
    as(given.arbiter, "POST", `${given.task.path}/decision`, signDecision(real, given, 0.75)),
  accept: ({ as }: Caller, given: Case) =>
    as(given.boss, "POST", `${given.task.path}/verdict`, signVerdict(real, given, "accepted")),
};

/** Waits by the relay's own long poll until each case has closed by itself. */
async function awaitClosed(caller: Caller, cases: readonly Case[]): Promise<Inspection[]> {
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

async function expectSettledOnce(caller: Caller, { boss }: Parties, count: number): Promise<void> {
  const { body } = await caller.as(boss, "GET", `/api/v1/agents/${boss.agentId}/settlements`);
  const settled = (body["settlements"] as { task_id: string }[]).map(({ task_id }) => task_id);
  expect(settled).toHaveLength(count);
  expect(new Set(settled).size).toBe(count);
  const books = await caller.asOperator("GET", "/api/v1/admin/reconciliation");
  expect(books.body).toMatchObject({ consistent: true, totals: { holds: 0 } });
}

test("IS8: every inspection closes by itself, once, whichever act kill -9 comes after", async () => {
  let relay = startRelay(env);
  let caller = await callerOf(await relay.baseUrl);
  const parties = await createParties(caller, 1_500);
  const cases: Case[] = [];
  const steps = [[], ["reject"], ["reject", "contest"], ["reject", "contest", "decide"]] as const;
  for (const [index, before] of steps.entries()) {
    const given = await begin(caller, parties);
    cases.push(given);
    const last = before.at(-1);
    for (const act of before.slice(0, -1)) await acts[act](caller, given);
    const sent = last === undefined ? undefined : acts[last](caller, given).catch(() => undefined);
    // Every other act is killed while it is being answered.
    if (index % 2 === 0) await sent;
    relay.kill("SIGKILL");
    await relay.ended;
    await sent;
    relay = startRelay(env);
    caller = await callerOf(await relay.baseUrl);
  }
  const closed = await awaitClosed(caller, cases);
  expect(closed.every(({ outcome }) => outcome !== null)).toBe(true);
  await expectSettledOnce(caller, parties, cases.length);
  relay.kill("SIGTERM");
  await relay.ended;
});

test("a relay with short windows ends each state by real time, over HTTP", async () => {
  const relay = startRelay({
    ...env,
    AGENT_DB_PATH: join(folder, "short.db"),
    AGENT_DISPUTE_ANSWER_MS: "3000",
  });
  const caller = await callerOf(await relay.baseUrl);
  expect(relay.stdout() + relay.stderr()).toContain("disputes.short_window");
  const parties = await createParties(caller, 3_000);
  const play = async (...names: (keyof typeof acts)[]) => {
    const given = await begin(caller, parties);
    for (const name of names) expect((await acts[name](caller, given)).status).toBe(200);
    return given;
  };
  const cases = await Promise.all([
    play(),
    play("reject"),
    play("reject", "contest"),
    play("reject", "contest", "decide"),
    play("accept"),
  ]);
  const closed = await awaitClosed(caller, cases);
  expect(closed.map(({ outcome }) => [outcome?.outcome, outcome?.share])).toEqual([
    ["lapsed", 1],
    ["unanswered", 0.5],
    ["undecided", 0.75],
    ["decided", 0.75],
    ["accepted", 1],
  ]);
  await expectSettledOnce(caller, parties, 5);
  relay.kill("SIGTERM");
  await relay.ended;
});
