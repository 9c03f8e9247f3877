import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delegate } from "@agent/client";
import { verifyReceipt } from "@agent/receipts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { MASTER_TOKEN, startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { startJoinedAgent, startTestAgent } from "../testing/agents/start-agent.ts";
import { createHangingTool, shoutTool, createTextTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

const priced = (capability: string, unitCost: number) => ({
  capabilities: [capability],
  pricing: [{ capability, unit_cost: unitCost }],
  description: `does ${capability}`,
});

async function balanceOf(agentId: string): Promise<number> {
  const answer = await relay.operator.getBalance({ params: { agentId } });
  if (!answer.ok) throw new Error(answer.message);
  return answer.body.balance;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("an agent that joins a relay", () => {
  test("a joined agent is listed with its endpoint, its tools and its name", async () => {
    const running = await startJoinedAgent({ relayUrl: relay.url, file: { name: "Shouter" } });
    const found = await relay.operator.discover({ query: { capability: "shout" } });
    expect(found).toMatchObject({
      ok: true,
      body: {
        agents: [
          {
            agent_id: running.agent.identity.agentId,
            endpoint_url: running.url,
            capabilities: ["shout"],
            metadata: { name: "Shouter", agent_type: "service" },
          },
        ],
      },
    });
    await running.stop();
  });

  test("a joined agent publishes its listing", async () => {
    const listing = priced("shout", 2);
    const running = await startJoinedAgent({ relayUrl: relay.url, file: { listing } });
    const { agentId } = running.agent.identity;
    const shown = await relay.operator.getListing({ params: { agentId } });
    expect(shown).toMatchObject({ ok: true, body: { pricing: [{ unit_cost: 2, per: "task" }] } });
    await running.stop();
  });

  test("an agent registers with AGENT_SYNC_TOKEN if it is set, and a wrong one is refused", async () => {
    const env = { AGENT_SYNC_TOKEN: MASTER_TOKEN };
    const running = await startJoinedAgent({ relayUrl: relay.url, env });
    await running.stop();
    const wrong = await startTestAgent({ relayUrl: relay.url, env: { AGENT_SYNC_TOKEN: "wrong" } });
    expect(await wrong.joined).toMatchObject({ ok: false, status: 403 });
    await wrong.stop();
  });
});

describe("work from the relay", () => {
  test("a task from the relay is completed, proven and paid", async () => {
    const running = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [createTextTool("count", (text) => ({ ok: true, data: String(text.length) }))],
      file: { listing: priced("count", 2) },
    });
    const { agentId, publicKey } = running.agent.identity;
    const payer = createTestIdentity().agentId;
    await relay.operator.deposit({ params: { agentId: payer }, body: { amount: 10 } });
    const done = await delegate(relay.operator, {
      agentId,
      prompt: "hello",
      requiredCapabilities: ["count"],
      submittedBy: payer,
      timeoutMs: 10_000,
    });
    if (!done.ok) throw new Error(done.message);
    expect(done.receipt).toMatchObject({ status: "completed", result: "5" });
    expect(verifyReceipt(done.receipt, { publicKey, taskId: done.task.task_id }).valid).toBe(true);
    expect([await balanceOf(payer), await balanceOf(agentId)]).toEqual([8, 1.9]);
    await running.stop();
  });

  test("a task from the relay runs tools above R2 only if they are listed", async () => {
    const risky = createTextTool("risky", () => ({ ok: true, data: "done" }), 3);
    const statusWith = async (file: Record<string, unknown>) => {
      const running = await startJoinedAgent({ relayUrl: relay.url, tools: [risky], file });
      const { agentId } = running.agent.identity;
      const done = await delegate(relay.operator, { agentId, prompt: "p", timeoutMs: 10_000 });
      await running.stop();
      return done.ok ? done.receipt.status : done.message;
    };
    expect(await statusWith({ listing: { capabilities: ["risky"] } })).toBe("completed");
    expect(await statusWith({})).toBe("denied");
  });

  test("a task submitted while the agent was offline runs when it connects", async () => {
    const identity = createTestIdentity();
    const { agentId } = identity;
    const submitted = await relay.operator.submitTask({
      params: { agentId },
      body: { prompt: "p" },
    });
    if (!submitted.ok) throw new Error(submitted.message);
    const taskId = submitted.body.task_id;
    const running = await startJoinedAgent({ relayUrl: relay.url, identity });
    const answer = await relay.operator.getTask({
      params: { agentId, taskId },
      query: { wait: 10 },
    });
    expect(answer).toMatchObject({ ok: true, body: { receipt: { result: "P" } } });
    await running.stop();
  });

  test("a task past its time limit gets a failed receipt and costs nothing", async () => {
    const running = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [createHangingTool()],
      file: { taskTimeoutMs: 50, listing: priced("hanging", 1) },
    });
    const { agentId } = running.agent.identity;
    const payer = createTestIdentity().agentId;
    await relay.operator.deposit({ params: { agentId: payer }, body: { amount: 5 } });
    const done = await delegate(relay.operator, {
      agentId,
      prompt: "p",
      submittedBy: payer,
      timeoutMs: 10_000,
    });
    expect(done).toMatchObject({ ok: true, receipt: { status: "failed" } });
    expect(await balanceOf(payer)).toBe(5);
    await running.stop();
  });

  test("each of many concurrent tasks runs once", async () => {
    let runs = 0;
    const counting = createTextTool("counting", (text) => {
      runs += 1;
      return { ok: true, data: text };
    });
    const running = await startJoinedAgent({ relayUrl: relay.url, tools: [counting] });
    const { agentId } = running.agent.identity;
    const prompts = Array.from({ length: 30 }, (_, index) => `task ${index}`);
    const results = await Promise.all(
      prompts.map(async (prompt) => {
        const done = await delegate(relay.operator, { agentId, prompt, timeoutMs: 20_000 });
        return done.ok ? done.receipt.result : done.message;
      }),
    );
    expect(results).toEqual(prompts);
    expect(runs).toBe(30);
    await running.stop();
  });
});

describe("a relay that comes and goes", () => {
  test("a relay is joined once it is reachable, and until then the agent answers over MCP", async () => {
    const early = await startTestRelay();
    await early.stop();
    const running = await startTestAgent({ relayUrl: early.url });
    expect(await running.joined).toMatchObject({ ok: false, code: "network.unreachable" });
    expect((await fetch(running.url?.replace("/mcp", "/health") ?? "")).status).toBe(200);
    const late = await startTestRelay(early.port);
    await until(() => running.relayLink?.membership() !== undefined);
    await running.stop();
    await late.stop();
  });

  test.each([
    ["at the next heartbeat", 100],
    ["when it refuses the socket, long before the next heartbeat", 60_000],
  ])("a relay that lost its data is joined again %s", async (_, syncIntervalMs) => {
    const first = await startTestRelay();
    const running = await startJoinedAgent({
      relayUrl: first.url,
      file: { syncIntervalMs, listing: priced("shout", 0) },
    });
    const before = running.relayLink?.membership()?.relay.relayId;
    await first.stop();
    const second = await startTestRelay(first.port);
    await until(() => {
      const relayId = running.relayLink?.membership()?.relay.relayId;
      return relayId !== undefined && relayId !== before;
    });
    const { agentId } = running.agent.identity;
    const params = { agentId };
    expect(await second.operator.getAgent({ params })).toMatchObject({
      ok: true,
      body: { endpoint_url: running.url, capabilities: ["shout"] },
    });
    expect(await second.operator.getListing({ params })).toMatchObject({ ok: true });
    const done = await delegate(second.operator, { agentId, prompt: "again", timeoutMs: 10_000 });
    expect(done).toMatchObject({ ok: true, receipt: { result: "AGAIN" } });
    await running.stop();
    await second.stop();
  });

  test("a relay restored without the agent's offer gets it again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-backup-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(0, env);
    const running = await startJoinedAgent({
      relayUrl: before.url,
      file: { syncIntervalMs: 60_000, listing: priced("shout", 3) },
    });
    const params = { agentId: running.agent.identity.agentId };
    // The state of a backup taken between the agent's first key and its registration.
    await before.operator.deregisterAgent({ params });
    await before.stop();
    const after = await startTestRelay(before.port, env);
    const listing = () => after.operator.getListing({ params });
    await until(async () => (await listing()).ok);
    const found = await after.operator.discover({ query: { capability: "shout" } });
    expect(found).toMatchObject({ ok: true, body: { agents: [{ agent_id: params.agentId }] } });
    await running.stop();
    await after.stop();
    await rm(folder, { recursive: true });
  });
});

describe("a tool that delegates", () => {
  const asking = (
    request: (prompt: string) => { agent_id?: string; capability?: string },
    budget: { max_budget?: number } = { max_budget: 1.2 },
  ) =>
    createTextTool("asking", async (prompt, { delegate }) => {
      const answer = await delegate?.({ ...request(prompt), prompt, ...budget });
      if (answer === undefined) return { ok: false, error: "no relay" };
      return answer.ok ? { ok: true, data: `${answer.data}!` } : answer;
    });

  test("a delegation is paid from the agent's account, and its receipt is nested", async () => {
    const worker = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [createTextTool("whisper", (text) => ({ ok: true, data: text.toLowerCase() }))],
      file: { listing: priced("whisper", 1) },
    });
    const boss = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [asking(() => ({ capability: "whisper" }))],
    });
    const bossId = boss.agent.identity.agentId;
    const workerId = worker.agent.identity.agentId;
    await relay.operator.deposit({ params: { agentId: bossId }, body: { amount: 5 } });
    const done = await delegate(relay.operator, {
      agentId: bossId,
      prompt: "LOUD",
      timeoutMs: 10_000,
    });
    if (!done.ok) throw new Error(done.message);
    expect(done.receipt.result).toBe("loud!");
    expect(done.receipt.delegation_receipts).toMatchObject([
      { agent_id: workerId, result: "loud" },
    ]);
    expect(done.verdict.nested.map((nested) => nested.valid)).toEqual([true]);
    expect([await balanceOf(bossId), await balanceOf(workerId)]).toEqual([4, 0.95]);
    await boss.stop();
    await worker.stop();
  });

  test("A12: a delegation without a budget pays at most the highest price that was found", async () => {
    const offers = [0.5, 0.75].map((price) =>
      startJoinedAgent({
        relayUrl: relay.url,
        tools: [createTextTool("hum", (text) => ({ ok: true, data: text }))],
        file: { listing: priced("hum", price) },
      }),
    );
    const workers = await Promise.all(offers);
    const boss = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [asking(() => ({ capability: "hum" }), {})],
    });
    const { agentId } = boss.agent.identity;
    await relay.operator.deposit({ params: { agentId }, body: { amount: 5 } });
    const done = await delegate(relay.operator, { agentId, prompt: "p", timeoutMs: 10_000 });
    expect(done).toMatchObject({ ok: true, receipt: { status: "completed" } });
    const query = { submitted_by: "me" } as const;
    const listed = await relay.operator.listTasks({ params: { agentId }, query });
    const [task] = listed.ok ? listed.body.tasks : [];
    if (task === undefined) throw new Error("nothing was submitted");
    const params = { agentId: task.agent_id, taskId: task.task_id };
    expect(await relay.operator.getRouting({ params })).toMatchObject({
      body: { price_cap: 0.75 },
    });
    for (const each of [boss, ...workers]) await each.stop();
  });

  test.each<[string, { agent_id?: string; capability?: string }, string]>([
    ["no agent offers the capability", { capability: "nothing" }, "No other agent offers"],
    ["it names neither an agent nor a capability", {}, "either an agent_id or a capability"],
    ["it names both", { agent_id: "a", capability: "c" }, "either an agent_id or a capability"],
  ])("a delegation is refused when %s", async (_, request, error) => {
    const boss = await startJoinedAgent({ relayUrl: relay.url, tools: [asking(() => request)] });
    const { agentId } = boss.agent.identity;
    const done = await delegate(relay.operator, { agentId, prompt: "p", timeoutMs: 10_000 });
    expect(done.ok && done.receipt.result).toContain(error);
    expect(done.ok && done.receipt.status).toBe("failed");
    await boss.stop();
  });

  test("H8: three agents that delegate in a ring by id end at the tenth delegation", async () => {
    let calls = 0;
    const ids: string[] = [];
    const passOn = (name: string, next: number) =>
      createTextTool(name, async (text, { delegate }) => {
        calls += 1;
        const answer = await delegate?.({ agent_id: ids[next] ?? "", prompt: text });
        return answer?.ok === true ? answer : { ok: false, error: answer?.error ?? "no relay" };
      });
    const agents = [];
    for (const [name, next] of [
      ["ping", 1],
      ["pong", 2],
      ["pang", 0],
    ] as const) {
      agents.push(await startJoinedAgent({ relayUrl: relay.url, tools: [passOn(name, next)] }));
    }
    ids.push(...agents.map(({ agent }) => agent.identity.agentId));
    const done = await delegate(relay.operator, {
      agentId: ids[0] ?? "",
      prompt: "again",
      timeoutMs: 30_000,
    });
    expect(done).toMatchObject({ ok: true, receipt: { status: "failed" } });
    expect(calls).toBe(11);
    await Promise.all(agents.map((agent) => agent.stop()));
  });

  test("H8: a ring of three agents with one capability ends when each of them has delegated the task", async () => {
    let calls = 0;
    const relayTool = createTextTool("circle", async (text, { delegate }) => {
      calls += 1;
      const answer = await delegate?.({ capability: "circle", prompt: text });
      return answer?.ok === true ? answer : { ok: false, error: answer?.error ?? "no relay" };
    });
    const file = { listing: priced("circle", 0) };
    const agents = [];
    for (let i = 0; i < 3; i += 1) {
      agents.push(await startJoinedAgent({ relayUrl: relay.url, tools: [relayTool], file }));
    }
    const done = await delegate(relay.operator, {
      agentId: agents[0]?.agent.identity.agentId ?? "",
      prompt: "again",
      timeoutMs: 30_000,
    });
    expect(done).toMatchObject({ ok: true, receipt: { status: "failed" } });
    expect(calls).toBe(3);
    await Promise.all(agents.map((agent) => agent.stop()));
  });

  test("a delegation above its budget is refused", async () => {
    const worker = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [shoutTool],
      file: { listing: priced("shout", 100) },
    });
    const agent_id = worker.agent.identity.agentId;
    const boss = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [asking(() => ({ agent_id }))],
    });
    const bossId = boss.agent.identity.agentId;
    await relay.operator.deposit({ params: { agentId: bossId }, body: { amount: 1_000 } });
    const done = await delegate(relay.operator, {
      agentId: bossId,
      prompt: "p",
      timeoutMs: 10_000,
    });
    expect(done.ok && done.receipt.result).toContain("budget.max_exceeded");
    expect(await balanceOf(bossId)).toBe(1_000);
    await boss.stop();
    await worker.stop();
  });
});
