import { randomBytes } from "node:crypto";
import { signSuccession } from "@agent/crypto";
import { createReceipt, createTestAgent, type TestAgent } from "@agent/testkit";
import { parseVerifierKey } from "@agent/transparency";
import { verifyArtifact } from "@agent/verify";
import { runStatement } from "@agent/test-postgres";
import type { RelayProcess } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { call, startCluster, startMember, type Cluster } from "./start-cluster.ts";
import { onlyOn } from "../engine/engine.ts";
import { OPERATOR_TOKEN, type Reply } from "../test-relay.ts";

const TASKS = 100;
const TASKS_AT_ONCE = 10;
/** The number of deliveries of one receipt. */
const DELIVERIES = 50;

/** Repeats a request while the processes do not serve, as on a machine that stands still for longer than their rows. */
function repeatUnserved(send: () => Promise<Reply>): Promise<Reply> {
  const sendOnce = async () => {
    const reply = await send();
    return reply.status !== 503 && reply;
  };
  return vi.waitUntil(sendOnce, { interval: 100, timeout: 100_000 });
}

/** Two processes of one relay on one database, with separate memory, connections and timers. */
describe.runIf(onlyOn("postgres"))("two processes on one database", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(2);
  });
  afterAll(() => cluster.stop());

  const a = () => cluster.members[0];
  const b = () => cluster.members[1];

  const PROMPT = "count to three";

  async function submit(boss: TestAgent, worker: TestAgent, headers: Record<string, string> = {}) {
    const path = `/agent/${worker.agentId}/task`;
    const body = { prompt: PROMPT, required_capabilities: ["summarise"] };
    return cluster.as(boss, cluster.next(), "POST", path, { body, headers });
  }

  test("two processes have one identity, although both created it at their first start", async () => {
    const ids = await Promise.all(
      cluster.members.map(async (member) =>
        call(member, "GET", "/.well-known/agent-relay.json").then(({ body }) => body["did"]),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await runStatement(cluster.databaseUrl, "SELECT 1 FROM relay_identity")).toHaveLength(1);
  });

  test("two processes have one leader, which the other replaces when it stops", async () => {
    const leases = () =>
      runStatement(cluster.databaseUrl, "SELECT holder, fence FROM leases WHERE name = 'leader'");
    const [before] = await leases();
    const third = await startMember(cluster.databaseUrl);
    expect(await leases()).toEqual([before]);
    await third.stop();
    const ready = await cluster.asOperator(a(), "GET", "/health/ready");
    expect(ready.status).toBe(200);
  });

  test("two processes are each listed by both, with the one that leads and the one that answers", async () => {
    for (const member of [a(), b()]) {
      const { body } = await cluster.asOperator(member, "GET", "/api/v1/admin/processes");
      const processes = body["processes"] as RelayProcess[];
      const live = processes.filter(({ alive }) => alive);
      expect(live).toHaveLength(2);
      expect(live.filter(({ leads }) => leads)).toHaveLength(1);
      const ready = await call(member, "GET", "/health/ready", { token: OPERATOR_TOKEN });
      const [answering] = live.filter(({ answers }) => answers);
      expect(ready.text).toContain(`${answering?.name} ${answering?.leads ? "leads" : "follows"}`);
      const overview = await cluster.asOperator(member, "GET", "/api/v1/admin/overview");
      expect(overview.body["processes"]).toBe(2);
    }
  });

  test("two processes settle a task once, whichever of them gets its receipt", async () => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 1_000);
    const token = await cluster.token(worker);
    async function settle(): Promise<number[]> {
      const { status, body } = await repeatUnserved(() => submit(boss, worker));
      const task = { task_id: String(body["task_id"]), prompt: PROMPT, submitted_at: Date.now() };
      const receipt = createReceipt(worker, task);
      const path = `/agent/${worker.agentId}/task/${task.task_id}/result`;
      const paid = Array.from({ length: DELIVERIES }, () =>
        repeatUnserved(() => call(cluster.next(), "POST", path, { token, body: receipt })),
      );
      return [status, ...(await Promise.all(paid)).map((answer) => answer.status)];
    }
    for (let settled = 0; settled < TASKS; settled += TASKS_AT_ONCE) {
      const statuses = await Promise.all(Array.from({ length: TASKS_AT_ONCE }, settle));
      expect(new Set(statuses.flat())).toEqual(new Set([201, 200]));
    }
    const balance = await cluster.asOperator(
      b(),
      "GET",
      `/api/v1/agents/${worker.agentId}/balance`,
    );
    expect(balance.body["balance"]).toBe(TASKS * 0.95);
    const settlements = await runStatement(
      cluster.databaseUrl,
      "SELECT count(*) AS count FROM settlements WHERE payee_id = $1",
      [worker.agentId],
    );
    expect(settlements).toEqual([{ count: TASKS }]);
    const books = await cluster.asOperator(a(), "GET", "/api/v1/admin/reconciliation");
    expect(books.body).toMatchObject({ consistent: true });
  });

  test("two processes prove by evidence that a receipt is in the log, although only one of them signs its heads", async () => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 100);
    const identity = await call(a(), "GET", "/.well-known/agent-relay.json");
    const parsed = parseVerifierKey((identity.body["log"] as { vkey: string }).vkey);
    const logKey = parsed.ok ? parsed.key : undefined;
    for (const member of [a(), b(), a(), b()]) {
      const tasksOf = `/agent/${worker.agentId}/task`;
      const { body } = await cluster.as(boss, member, "POST", tasksOf, {
        body: { prompt: PROMPT },
      });
      const task_id = String(body["task_id"]);
      const receipt = createReceipt(worker, { task_id, prompt: PROMPT, submitted_at: Date.now() });
      const path = `${tasksOf}/${task_id}`;
      const paid = await cluster.as(worker, member, "POST", `${path}/result`, { body: receipt });
      expect(paid).toMatchObject({ status: 200 });
      const evidence = await cluster.as(boss, member, "GET", `${path}/evidence`);
      // Without the proofs from the log, a reader who knows the log's key would refuse it.
      const verdict = verifyArtifact(evidence.text, { log: { logKey } });
      expect(verdict).toMatchObject({ kind: "bundle", valid: true });
    }
  });

  test("two processes sell exactly as many tasks as a payer has money for", async () => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 2);
    expect(await submit(boss, worker)).toMatchObject({ status: 201 });
    const path = `/api/v1/agents/${boss.agentId}/balance`;
    const before = (await cluster.asOperator(a(), "GET", path)).body;
    const hold = Number(before["pending_allocations"]);
    await cluster.deposit(boss, 50 * hold - Number(before["balance"]));
    const answers = await Promise.all(Array.from({ length: 500 }, () => submit(boss, worker)));
    const counts = Object.groupBy(answers, ({ status }) => status);
    expect([counts[201]?.length, counts[402]?.length]).toEqual([50, 450]);
    for (const member of cluster.members) {
      const { body } = await cluster.asOperator(member, "GET", path);
      expect(body["balance"]).toBe(0);
      expect(body["pending_allocations"]).toBeCloseTo(51 * hold, 6);
    }
    const books = await cluster.asOperator(b(), "GET", "/api/v1/admin/reconciliation");
    expect(books.body).toMatchObject({ consistent: true });
  });

  test("two processes run a request under an Idempotency-Key once, also when both get it at once", async () => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 100);
    for (let round = 0; round < 3; round += 1) {
      const headers = { "idempotency-key": `at-both-${round}` };
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => submit(boss, worker, headers)),
      );
      const stored = answers.filter(({ status }) => status === 201);
      expect(new Set(stored.map(({ body }) => body["task_id"])).size).toBe(1);
      const others = answers.filter(({ status }) => status !== 201);
      expect(others.map(({ body }) => body["code"])).toEqual(
        others.map(() => "idempotency.key_in_use"),
      );
    }
    const tasks = await runStatement(
      cluster.databaseUrl,
      "SELECT 1 FROM tasks WHERE submitted_by = $1",
      [boss.agentId],
    );
    expect(tasks).toHaveLength(3);
  });

  test("two processes refuse a token that the other has revoked", async () => {
    const agent = await cluster.createAgent();
    const path = `/api/v1/agents/${agent.agentId}/balance`;
    const token = await cluster.token(agent);
    for (const member of cluster.members) {
      expect((await call(member, "GET", path, { token })).status).toBe(200);
    }
    const revoked = await call(a(), "POST", `/api/v1/agents/${agent.agentId}/revoke`, {
      token: OPERATOR_TOKEN,
      body: {},
    });
    expect(revoked.status).toBe(200);
    await expect
      .poll(async () => (await call(b(), "GET", path, { token })).status, { timeout: 3_000 })
      .toBe(403);
  });

  test("two processes keep a console session together, and end its stream at the other", async () => {
    const created = await cluster.asOperator(a(), "POST", "/api/v1/admin/session-codes", {});
    const { code } = created.body;
    const opened = await call(b(), "POST", "/api/v1/console/session", { body: { code } });
    expect(opened.status).toBe(201);
    const again = await call(a(), "POST", "/api/v1/console/session", { body: { code } });
    expect(again.body["code"]).toBe("session.code_invalid");
    const token = String(opened.body["token"]);
    expect((await call(a(), "GET", "/api/v1/admin/overview", { token })).status).toBe(200);
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const stream = await fetch(`${b().url}/api/v1/admin/events`, { headers });
    const reader = stream.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const path = `/api/v1/admin/console-sessions/${String(opened.body["session_id"])}`;
    expect((await cluster.asOperator(a(), "DELETE", path)).status).toBe(200);
    while ((await reader?.read())?.done === false);
    expect((await call(b(), "GET", "/api/v1/admin/overview", { token })).status).toBe(401);
  });

  test("D14: a token of a key that one process replaced moves no money at the other", async () => {
    for (let i = 0; i < 5; i += 1) {
      const owner = await cluster.createAgent();
      await cluster.deposit(owner, 10);
      const [path, token] = [`/api/v1/agents/${owner.agentId}`, await cluster.token(owner)];
      expect((await call(b(), "GET", `${path}/balance`, { token })).status).toBe(200);
      const next = createTestAgent({ now: Date.now, randomBytes });
      const succession = signSuccession({
        agent_id: owner.agentId,
        oldSecretKey: owner.secretKey,
        newSecretKey: next.secretKey,
        timestamp: Date.now(),
      });
      const rotation = { body: { succession } };
      const rotated = await cluster.as(owner, a(), "POST", `${path}/rotate-key`, rotation);
      expect(rotated.status).toBe(200);
      const withdrawal = { amount: 10, destination: "the owner of the key" };
      const withdraw = (bearer: string) =>
        call(b(), "POST", `${path}/withdrawals`, { token: bearer, body: withdrawal });
      expect(await withdraw(token)).toMatchObject({ status: 401 });
      const renewed = await cluster.token({ ...owner, secretKey: next.secretKey });
      expect(await withdraw(renewed)).toMatchObject({ status: 201 });
    }
  });

  test("D14: a webhook is refused at one process once the other has revoked its agent", async () => {
    for (let i = 0; i < 5; i += 1) {
      const agent = await cluster.createAgent();
      const [path, token] = [`/api/v1/agents/${agent.agentId}`, await cluster.token(agent)];
      const body = { url: "https://thief.example/hook", events: ["task.completed"] };
      const added = await call(b(), "POST", `${path}/webhooks`, { token, body });
      expect(added.status).toBe(201);
      expect((await cluster.asOperator(a(), "POST", `${path}/revoke`, {})).status).toBe(200);
      expect((await call(b(), "POST", `${path}/webhooks`, { token, body })).status).toBe(403);
      const left = await cluster.asOperator(a(), "GET", `${path}/webhooks`);
      expect(left.body).toEqual({ webhooks: [] });
    }
  });

  test("two processes write nothing after either has acknowledged a freeze", async () => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(1)];
    await cluster.deposit(boss, 1_000);
    const count = async () =>
      (await runStatement(cluster.databaseUrl, "SELECT 1 FROM tasks")).length;
    let isFrozen = false;
    let isOver = false;
    const late: number[] = [];
    const writing = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const wasFrozen = isFrozen;
        const { status } = await submit(boss, worker);
        if (wasFrozen) late.push(status);
      }
    });
    await expect.poll(count).toBeGreaterThan(30);
    const frozen = await cluster.asOperator(a(), "POST", "/api/v1/admin/freeze", {
      reason: "test",
    });
    expect(frozen.status).toBe(200);
    isFrozen = true;
    const atFreeze = await count();
    await expect.poll(() => late.length).toBeGreaterThan(20);
    isOver = true;
    await Promise.all(writing);
    expect(new Set(late)).toEqual(new Set([503]));
    expect(await count()).toBe(atFreeze);
    const ended = await cluster.asOperator(b(), "POST", "/api/v1/admin/unfreeze", {});
    expect(ended.status).toBe(200);
    for (const member of cluster.members) {
      await expect
        .poll(async () => {
          const path = `/api/v1/agents/${boss.agentId}/deposit`;
          return (await cluster.asOperator(member, "POST", path, { amount: 1 })).status;
        })
        .toBe(200);
    }
  });
});
