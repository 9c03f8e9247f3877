import { DELEGATION_EXTENSION, type OperatorAuditEntry } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadFreezer } from "../admin/freeze.ts";
import { createLog } from "../observability/log.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { listOperatorAudit } from "./list-operator-audit.ts";
import { recordOperatorAct } from "./operator-acts.ts";
import { consoleEnv, openConsole } from "../../test/agents/console-session.ts";
import { federated } from "../../test/contract/operator/federation.ts";
import { buildPath, samples } from "../../test/contract/samples.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

const noOutput = { stdout: () => {}, stderr: () => {} };

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay({ ...federated, ...consoleEnv });
});
afterEach(() => t.close());

async function listActs(query = ""): Promise<OperatorAuditEntry[]> {
  const { status, body } = await t.asOperator("GET", `/api/v1/admin/audit?limit=200${query}`);
  expect(status).toBe(200);
  return body["entries"] as OperatorAuditEntry[];
}

describe("what the operator does", () => {
  test("OP8: every operation of the operator that changes something is recorded", async () => {
    const acts = (Object.keys(operations) as OperationName[]).filter(
      (name) => operations[name].auth === "master" && operations[name].method !== "GET",
    );
    for (const name of acts) {
      await t.asOperator(operations[name].method, buildPath(name), samples[name].body);
    }
    const recorded = (await listActs("&actor=operator")).map(({ action }) => action);
    expect(recorded.toReversed()).toEqual(acts);
    expect(acts).toEqual(expect.arrayContaining(["freeze", "deposit", "addPeer"]));
  });

  test("OP8: an act is recorded with its actor, its target, its reason and its answer", async () => {
    const agent = await t.createAgent();
    const at = t.clock.now();
    await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, {
      amount: 5,
      reference: "wire 7",
    });
    await t.asOperator("POST", "/api/v1/admin/withdrawals/unknown/fail", { reason: "no account" });
    const [failed, deposit] = await listActs("&actor=operator");
    expect(deposit).toMatchObject({ at, action: "deposit", agent_id: null, result: "200" });
    expect(deposit?.detail).toContain(agent.agentId);
    expect(deposit?.detail).toContain("wire 7");
    expect(failed).toMatchObject({ action: "failWithdrawal", result: "withdrawal.not_found" });
    expect(failed?.detail).toContain("no account");
  });

  test("OP8: an act that repeats an earlier one and changes nothing is recorded as a repetition", async () => {
    const agent = await t.createAgent();
    const deposit = (body: object, headers?: Record<string, string>) =>
      t.request("POST", `/api/v1/agents/${agent.agentId}/deposit`, {
        body,
        token: OPERATOR_TOKEN,
        ...(headers !== undefined && { headers }),
      });
    const key = { "idempotency-key": "one" };
    await deposit({ amount: 5, reference: "wire 7" });
    await deposit({ amount: 6, reference: "wire 7" });
    await deposit({ amount: 7 }, key);
    await deposit({ amount: 7 }, key);
    await deposit({ amount: 8, reference: "wire 8" });
    expect(await t.getBalance(agent)).toBe(20);
    const results = (await listActs("&action=deposit")).map(({ result }) => result);
    expect(results.toReversed()).toEqual(["200", "200 repeated", "200", "200 repeated", "200"]);
  });

  test("OP8: acts while the relay is frozen are recorded too", async () => {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    await t.asOperator("POST", `/api/v1/agents/${t.createUnknownAgent().agentId}/deposit`, {
      amount: 1,
    });
    const acts = await listActs("&actor=operator");
    expect(acts.map(({ action, result }) => [action, result])).toEqual([
      ["deposit", "server.frozen"],
      ["freeze", "200"],
    ]);
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect((await listActs("&actor=operator"))[0]).toMatchObject({ action: "unfreeze" });
  });

  test("OP8: an act that is refused before it runs is recorded with the code", async () => {
    const { token, sessionId } = await openConsole(t, "view");
    const agent = await t.createAgent();
    const path = `/api/v1/agents/${agent.agentId}/deposit`;
    await t.request("POST", path, { token, body: { amount: 1 } });
    const [low] = await listActs(`&actor=session:${sessionId}`);
    expect(low).toMatchObject({ action: "deposit", result: "session.level" });
    expect(low?.detail).toContain(agent.agentId);
    await t.asOperator("POST", path, { amount: "much" });
    const [invalid] = await listActs("&actor=operator&action=deposit");
    expect(invalid).toMatchObject({ result: "request.invalid" });
    expect(await t.getBalance(agent)).toBe(0);
  });

  test("OP8: what the operator does with an agent's money on its behalf is recorded without texts", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const body = { prompt: "the secret plan", submitted_by: boss.agentId };
    const made = await t.asOperator("POST", `/agent/${worker.agentId}/task`, body);
    expect(made).toMatchObject({ status: 201 });
    const task = `/agent/${worker.agentId}/task/${String(made.body["task_id"])}`;
    await t.asOperator("POST", `${task}/cancel`);
    await t.asOperator("POST", `${task}/decision`, { share: 1, reason: "it is good" });
    const acts = await listActs("&actor=operator");
    expect(acts.slice(0, 3).map(({ action, result }) => [action, result])).toEqual([
      ["decideDispute", "inspection.not_found"],
      ["cancelTask", "200"],
      ["submitTask", "201"],
    ]);
    expect(acts[2]?.detail).toContain(boss.agentId);
    expect(JSON.stringify(acts)).not.toContain("secret plan");
    expect(
      await t.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "own" }),
    ).toMatchObject({ status: 201 });
    expect(await listActs("&action=submitTask")).toHaveLength(1);
  });

  test("OP8: what the operator does with an agent's money over A2A is recorded without texts", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const message = {
      messageId: "m-1",
      role: "ROLE_USER",
      parts: [{ text: "the secret plan" }],
      metadata: { [DELEGATION_EXTENSION]: { submitted_by: boss.agentId } },
    };
    const params = { message, configuration: { returnImmediately: true } };
    const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
    const send = async (token: string) =>
      t.request("POST", `/a2a/${worker.agentId}`, {
        token,
        body: call,
        headers: { "a2a-version": "1.0" },
      });
    expect((await send(OPERATOR_TOKEN)).body).toHaveProperty("result");
    expect(await t.getBalance(boss)).toBeLessThan(10);
    const [act] = await listActs("&actor=operator");
    expect(act).toMatchObject({ action: "callAgent", result: "200" });
    for (const shown of [boss.agentId, worker.agentId, "SendMessage"]) {
      expect(act?.detail).toContain(shown);
    }
    expect(act?.detail).not.toContain("secret plan");
    expect((await send(await t.token(boss))).status).toBe(200);
    expect(await listActs("&action=callAgent")).toHaveLength(1);
  });

  test("OP8: an act that fails because of a fault in the relay is recorded with its answer", async () => {
    const opened = await openMigrated({ path: ":memory:", migrations });
    if (!opened.ok) throw new Error(opened.detail);
    const { storage } = opened;
    const freezer = await loadFreezer(storage, { now: () => 1 });
    const log = createLog({ level: "error", write: noOutput, now: () => 1 });
    const services = { freezer, log, runtime: { ...t.clock, randomBytes: () => new Uint8Array() } };
    const act = { actor: "operator", action: "deposit", detail: {} };
    const run = () => Promise.reject(new Error("the disk is full"));
    await expect(recordOperatorAct(services, act, run)).rejects.toThrow("the disk is full");
    const listed = await listOperatorAudit(storage.read, {});
    expect(listed).toMatchObject({ body: { entries: [{ result: "server.failed" }] } });
    await storage.close();
  });

  test("OP9: each reading of a task's texts is recorded, and lists of tasks contain no texts", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const prompt = "the secret plan";
    const task = await submitAcceptedTask(t, boss, worker, { prompt });
    const path = `/api/v1/admin/tasks/${task.task_id}`;
    for (const list of [path, "/api/v1/admin/tasks", "/api/v1/admin/events"]) {
      expect((await t.asOperator("GET", list)).text).not.toContain(prompt);
    }
    expect(await listActs("&action=getTaskTexts")).toEqual([]);
    expect(await t.asOperator("GET", `${path}/texts`)).toMatchObject({ body: { prompt } });
    const [shown] = await listActs("&action=getTaskTexts");
    expect(shown).toMatchObject({ actor: "operator", result: "200" });
    expect(shown?.detail).toContain(task.task_id);
  });

  test("OP9: acts of a console session are recorded under its name, even if it only reads texts", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    const { token, sessionId } = await openConsole(t);
    await t.request("GET", task.path, { token });
    await t.request("POST", "/api/v1/admin/freeze", { token, body: { reason: "an audit" } });
    const acts = await listActs(`&actor=session:${sessionId}`);
    expect(acts.map(({ action }) => action)).toEqual(["freeze", "getTask"]);
    const { body } = await t.asOperator("GET", "/api/v1/admin/freeze");
    expect(body).toMatchObject({ frozen: true, by: `session:${sessionId}` });
  });

  test("OP9: whatever a console session reads of an agent is recorded, but for figures and keys", async () => {
    const { token, sessionId } = await openConsole(t);
    const names = Object.keys(operations) as OperationName[];
    const reads = names.filter(
      (name) => operations[name].auth === "bearer" && operations[name].method === "GET",
    );
    for (const name of reads) {
      const query = samples[name].query ?? "";
      const { status } = await t.request("GET", `${buildPath(name)}?${query}`, { token });
      expect(status).not.toBe(429);
    }
    const recorded = (await listActs(`&actor=session:${sessionId}`)).map(({ action }) => action);
    expect(recorded).toEqual(
      expect.arrayContaining([
        "getPlan",
        "listEvents",
        "getLedger",
        "getManifest",
        "getInspection",
      ]),
    );
    // An operation that is added shows texts of agents unless its row says otherwise.
    expect(reads.filter((name) => !recorded.includes(name)).toSorted()).toEqual([
      "discover",
      "getAgent",
      "getBalance",
      "getDevice",
      "getPairing",
      "getRouting",
      "getState",
      "getStatement",
      "getTrust",
      "getTrustClosure",
      "getTrustPath",
      "getVisibility",
      "listAudit",
      "listCandidates",
      "listCredentials",
      "listDevices",
      "listSettlements",
      "listTransactions",
      "listTrust",
      "listWithdrawals",
    ]);
  });

  test("the list shows agents and operators in one order, page by page", async () => {
    for (let made = 0; made < 3; made += 1) {
      await t.createWorker(1);
      await t.clock.advance(10);
      await t.deposit(await t.createAgent(), 1);
    }
    const all = await listActs();
    expect(new Set(all.map(({ actor }) => actor)).size).toBeGreaterThan(3);
    const paged: OperatorAuditEntry[] = [];
    let cursor = "";
    do {
      const { body } = await t.asOperator("GET", `/api/v1/admin/audit?limit=2${cursor}`);
      paged.push(...(body["entries"] as OperatorAuditEntry[]));
      const next = body["next_cursor"] as string | null;
      cursor = next === null ? "" : `&cursor=${next}`;
    } while (cursor !== "");
    expect(paged).toEqual(all);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((a, b) => b - a));
  });
});
