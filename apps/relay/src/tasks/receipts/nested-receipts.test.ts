import type { ExecutionReceipt } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createKeylessSeller,
  createSeller,
  getTaskAt,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

/** Creates a chain of agents, each of which delegates to the next: each costs `prices[i]` and has `funds`. */
async function row(prices: readonly number[], funds = 10): Promise<[TestAgent[], Delegation[]]> {
  const agents = [await createBuyer(t, funds)];
  const tasks: Delegation[] = [];
  for (const price of prices) {
    const worker = await createSeller(t, price);
    await t.deposit(worker, funds);
    tasks.push(await submitAcceptedTask(t, agents.at(-1)!, worker));
    agents.push(worker);
  }
  return [agents, tasks];
}

/**
 * Builds the receipt of the first worker, with that of the second inside, and so on to the last.
 */
function chainOf([, ...workers]: TestAgent[], tasks: readonly Delegation[]): ExecutionReceipt {
  return workers.reduceRight<ExecutionReceipt | undefined>(
    (inner, worker, i) => nesting(worker, tasks[i]!, inner === undefined ? [] : [inner]),
    undefined,
  )!;
}

function nesting(
  agent: TestAgent,
  task: Delegation,
  delegation_receipts: readonly ExecutionReceipt[],
): ExecutionReceipt {
  if (delegation_receipts.length === 0) return createReceipt(agent, task);
  return createReceipt(agent, task, { delegation_receipts: [...delegation_receipts] });
}

const post = (task: Delegation, receipt: unknown): Promise<Reply> =>
  t.asOperator("POST", `${task.path}/result`, receipt);

const statuses = (tasks: readonly Delegation[]) =>
  Promise.all(tasks.map(async ({ path }) => (await getTaskAt(t, path)).status));

const balances = (agents: readonly TestAgent[]) =>
  Promise.all(agents.map((agent) => t.getBalance(agent)));

describe("nested receipts", () => {
  test("nested receipts settle with the outermost one, each of three hops between its own two agents", async () => {
    const [agents, tasks] = await row([5, 2, 1]);
    expect((await post(tasks[0]!, chainOf(agents, tasks))).status).toBe(200);
    expect(await statuses(tasks)).toEqual(["completed", "completed", "completed"]);
    expect(await balances(agents)).toEqual([5, 12.75, 10.9, 10.95]);
    const trust = (await getAgentStates(t, agents)).map((of) =>
      of.trust.map((it) => it.remote_agent_id),
    );
    const [, a, b, c] = agents.map(({ agentId }) => agentId);
    expect(trust).toEqual([[a], [b], [c], []]);
    expect(t.listLogged("settlement.created")).toHaveLength(3);
    await expectConsistentBooks(t, { holds: 0, fees: 0.4 });
  });

  test("nested receipts count as delivered, so that a sub-agent that posts its own gets the same answer", async () => {
    const [agents, tasks] = await row([5, 2]);
    const outer = chainOf(agents, tasks);
    await post(tasks[0]!, outer);
    const [inner] = outer.delegation_receipts!;
    expect(await post(tasks[1]!, inner)).toMatchObject({ status: 200 });
    expect(
      (await post(tasks[1]!, createReceipt(agents[2]!, tasks[1]!, { result: "?" }))).status,
    ).toBe(409);
    const { body } = await t.asOperator("GET", tasks[1]!.path);
    expect(body["receipt"]).toEqual(inner);
    await expectConsistentBooks(t, { fees: 0.35 });
  });

  test("nested receipts end their tasks with their own status, so that a failed one is refunded", async () => {
    const [agents, tasks] = await row([5, 2]);
    const inner = createReceipt(agents[2]!, tasks[1]!, { status: "failed" });
    await post(tasks[0]!, nesting(agents[1]!, tasks[0]!, [inner]));
    expect(await statuses(tasks)).toEqual(["completed", "failed"]);
    expect(await balances(agents)).toEqual([5, 14.75, 10]);
  });

  test("nested receipts do nothing when the receipt around them is refused", async () => {
    const [agents, tasks] = await row([5, 2]);
    const before = await getAgentStates(t, agents);
    const outer = chainOf(agents, tasks);
    expect((await post(tasks[0]!, { ...outer, result: "changed" })).status).toBe(403);
    expect(await getAgentStates(t, agents)).toEqual(before);
    expect(await statuses(tasks)).toEqual(["pending", "pending"]);
    expect((await post(tasks[0]!, outer)).status).toBe(200);
  });
});

describe("RC16 one bad nested receipt of three", () => {
  const spoil: [what: string, (receipt: ExecutionReceipt) => unknown][] = [
    ["was tampered with", (receipt) => ({ ...receipt, result: "changed" })],
    ["is signed by another", (receipt) => ({ ...receipt, signature: "A".repeat(86) })],
    ["has no suite", (receipt) => ({ ...receipt, suite: undefined })],
    ["is out of its span", (receipt) => ({ ...receipt, completed_at: 0 })],
    ["is no receipt at all", () => ({ task_id: 1 })],
  ];
  test.each(spoil)(
    "a nested receipt that %s is skipped and logged; the others settle",
    async (_, bad) => {
      const [[boss, middle], [outer]] = (await row([5])) as [[TestAgent, TestAgent], [Delegation]];
      const workers = [
        await createSeller(t, 1),
        await createSeller(t, 1),
        await createSeller(t, 1),
      ];
      const tasks: Delegation[] = [];
      for (const worker of workers) tasks.push(await submitAcceptedTask(t, middle, worker));
      const honest = workers.map((worker, i) => createReceipt(worker, tasks[i]!));
      const nested = [honest[0]!, bad(honest[1]!) as ExecutionReceipt, honest[2]!];

      expect((await post(outer, nesting(middle, outer, nested))).status).toBe(200);
      expect(await statuses([outer, ...tasks])).toEqual([
        "completed",
        "completed",
        "pending",
        "completed",
      ]);
      expect(await balances([boss, ...workers])).toEqual([5, 0.95, 0, 0.95]);
      expect(t.listLogged("delegation_receipt.signature_invalid")).toMatchObject([
        { correlationId: outer.task_id },
      ]);
      const [holdings] = await getAgentStates(t, [middle]);
      expect(holdings?.trust.map((record) => record.remote_agent_id).toSorted()).toEqual(
        [workers[0]!.agentId, workers[2]!.agentId].toSorted(),
      );
      await expectConsistentBooks(t, { holds: 1.2 });
      expect((await post(tasks[1]!, honest[1])).status).toBe(200);
      expect(await t.getBalance(workers[1]!)).toBe(0.95);
    },
  );
});

const getCpuMs = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
};

describe("RC17 a nested tree", () => {
  test("a tree of 12 hops settles ten of them and reports that it stopped there", async () => {
    const [agents, tasks] = await row(Array.from({ length: 13 }, () => 1));
    expect((await post(tasks[0]!, chainOf(agents, tasks))).status).toBe(200);
    const expected = tasks.map((_, hop) => (hop <= 10 ? "completed" : "pending"));
    expect(await statuses(tasks)).toEqual(expected);
    expect(t.listLogged("multihop.settlement.depth_limit")).toMatchObject([
      { correlationId: tasks[0]!.task_id },
    ]);
    await expectConsistentBooks(t, { holds: 2.4 });
    expect((await post(tasks[11]!, chainOf(agents.slice(11), tasks.slice(11)))).status).toBe(200);
    expect((await statuses(tasks)).every((status) => status === "completed")).toBe(true);
  });

  test.each([
    [256, 200],
    [257, 400],
  ])("a tree of %i receipts is answered with %i within a second", async (count, status) => {
    const [[, worker], [task]] = (await row([1])) as [TestAgent[], [Delegation]];
    const many = Array.from({ length: count }, (_, i) =>
      createReceipt(worker!, { ...task, task_id: `sub ${i}` }),
    );
    // Processor time, because other processes can delay this one.
    const start = process.threadCpuUsage();
    const { status: answered, body } = await post(task, nesting(worker!, task, many));
    expect(getCpuMs(start)).toBeLessThan(1_000);
    expect(answered).toBe(status);
    expect([undefined, "receipt.too_many_nested"]).toContain(body["code"]);
  });

  test("a tree of 5 MB is answered with 413 within a second", async () => {
    const [[, worker], [task]] = (await row([1])) as [TestAgent[], [Delegation]];
    const inner = createReceipt(worker!, task, { result: "x".repeat(500_000) });
    const raw = JSON.stringify(
      nesting(
        worker!,
        task,
        Array.from({ length: 10 }, () => inner),
      ),
    );
    const start = process.threadCpuUsage();
    const token = await t.token(worker!);
    expect((await t.request("POST", `${task.path}/result`, { token, raw })).status).toBe(413);
    expect(getCpuMs(start)).toBeLessThan(1_000);
    expect((await post(task, createReceipt(worker!, task))).status).toBe(200);
  });

  test("a tree that contains a receipt twice settles it once", async () => {
    const [agents, tasks] = await row([5, 2]);
    const inner = createReceipt(agents[2]!, tasks[1]!);
    await post(tasks[0]!, nesting(agents[1]!, tasks[0]!, [inner, inner, { ...inner }]));
    expect(await balances(agents)).toEqual([5, 12.75, 11.9]);
    await expectConsistentBooks(t, { holds: 0, fees: 0.35 });
  });

  test("a tree that contains two receipts for one task settles the first one", async () => {
    const [agents, tasks] = await row([5, 2]);
    const both = (["failed", "completed"] as const).map((status) =>
      createReceipt(agents[2]!, tasks[1]!, { status }),
    );
    await post(tasks[0]!, nesting(agents[1]!, tasks[0]!, both));
    expect(await statuses(tasks)).toEqual(["completed", "failed"]);
    expect(await balances(agents)).toEqual([5, 14.75, 10]);
  });

  test("a tree that contains a copy of its own root settles the root once", async () => {
    const [[boss, worker], [task]] = (await row([5])) as [TestAgent[], [Delegation]];
    const copy = createReceipt(worker!, task);
    expect((await post(task, nesting(worker!, task, [copy, copy]))).status).toBe(200);
    expect(await balances([boss!, worker!])).toEqual([5, 14.75]);

    await t.deposit(worker!, 10);
    const own = await submitAcceptedTask(t, worker!, worker!);
    await post(own, nesting(worker!, own, [createReceipt(worker!, own)]));
    expect(await t.getBalance(worker!)).toBe(24.5);
    await expectConsistentBooks(t, { holds: 0, fees: 0.5 });
  });
});

describe("RC18 a nested receipt settles nothing", () => {
  const notFound = () => t.listLogged("multihop.settlement.task_not_found");

  async function expectOnlyOuter(
    outer: Delegation,
    agents: readonly TestAgent[],
    receipt: ExecutionReceipt,
  ): Promise<void> {
    const before = await balances(agents);
    expect((await post(outer, receipt)).status).toBe(200);
    expect(await balances(agents)).toEqual(before);
    await expectConsistentBooks(t);
  }

  test("a nested receipt settles nothing when its task was never submitted here", async () => {
    const [[, worker], [task]] = (await row([5])) as [TestAgent[], [Delegation]];
    const sub = await createSeller(t, 1);
    const unknown = createReceipt(sub, {
      ...task,
      task_id: "019b7d21-53eb-7c81-b2f1-75174603c805",
    });
    await expectOnlyOuter(task, [sub], nesting(worker!, task, [unknown]));
    expect(notFound()).toHaveLength(1);
  });

  test("a nested receipt settles nothing when it is settled already", async () => {
    const [agents, tasks] = await row([5, 2]);
    const outer = chainOf(agents, tasks);
    await post(tasks[1]!, outer.delegation_receipts![0]);
    await expectOnlyOuter(tasks[0]!, [agents[2]!], outer);
    expect(notFound()).toEqual([]);
  });

  test("a nested receipt settles nothing when another receipt settled its task already", async () => {
    const [agents, tasks] = await row([5, 2]);
    await post(tasks[1]!, createReceipt(agents[2]!, tasks[1]!, { result: "earlier" }));
    await expectOnlyOuter(tasks[0]!, [agents[2]!], chainOf(agents, tasks));
    expect(notFound()).toHaveLength(1);
  });

  test("a nested receipt settles nothing when its task was not submitted by the agent one hop up", async () => {
    const [[boss, worker], [task]] = (await row([5])) as [TestAgent[], [Delegation]];
    const sub = await createSeller(t, 1);
    const foreign = await submitAcceptedTask(t, boss!, sub);
    const outer = nesting(worker!, task, [createReceipt(sub, foreign)]);
    await expectOnlyOuter(task, [sub], outer);
    expect(await getTaskAt(t, foreign.path)).toMatchObject({ status: "pending" });
    expect(notFound()).toHaveLength(1);
  });

  test("a nested receipt settles nothing when another agent than its executor signed it", async () => {
    const [[, worker], [task]] = (await row([5])) as [TestAgent[], [Delegation]];
    const [sub, other] = [await createSeller(t, 1), await createSeller(t, 1)];
    const given = await submitAcceptedTask(t, worker!, sub);
    await expectOnlyOuter(
      task,
      [sub, other],
      nesting(worker!, task, [createReceipt(other, given)]),
    );
    expect(await getTaskAt(t, given.path)).toMatchObject({ status: "pending" });
  });

  test("a nested receipt settles nothing when its task_id is not that of the task to which it is bound", async () => {
    const [[, worker], [task]] = (await row([5])) as [TestAgent[], [Delegation]];
    const sub = await createSeller(t, 1);
    const given = await submitAcceptedTask(t, worker!, sub);
    const unlike = createReceipt(sub, given, { task_id: "another" });
    await expectOnlyOuter(task, [sub], nesting(worker!, task, [unlike]));
  });

  test("A1: a nested receipt settles nothing when its own key is not registered, for a free and a paid task", async () => {
    const [[, worker], [outer]] = (await row([5])) as [TestAgent[], [Delegation]];
    const [stranger, agent] = [t.createUnknownAgent(), await createKeylessSeller(t)];
    const free = await submitAcceptedTask(t, worker!, stranger);
    const paid = await submitAcceptedTask(t, worker!, agent);
    const nested = [createReceipt(stranger, free), createReceipt(agent, paid)];
    await expectOnlyOuter(outer, [agent], nesting(worker!, outer, nested));
    expect(await statuses([free, paid])).toEqual(["pending", "pending"]);
    expect(t.listLogged("multihop.settlement.sig_invalid")).toMatchObject([
      { nested_task_id: free.task_id, code: "nested.key_missing" },
      { nested_task_id: paid.task_id, code: "nested.key_missing" },
    ]);
  });

  test("A1: a nested receipt settles nothing when a key around it is not registered", async () => {
    const [boss, sub] = [await createBuyer(t, 10), await createSeller(t, 1)];
    const agent = t.createUnknownAgent();
    const outer = await submitAcceptedTask(t, boss, agent);
    await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, { amount: 10 });
    const path = `/agent/${sub.agentId}/task`;
    const submitted = await t.asOperator("POST", path, {
      prompt: "work",
      submitted_by: agent.agentId,
    });
    const task_id = String(submitted.body["task_id"]);
    const given = {
      task_id,
      prompt: "work",
      submitted_at: t.clock.now(),
      path: `${path}/${task_id}`,
    };
    await expectOnlyOuter(outer, [sub], nesting(agent, outer, [createReceipt(sub, given)]));
    expect(await statuses([given])).toEqual(["pending"]);
    expect((await post(given, createReceipt(sub, given))).status).toBe(200);
    expect(await t.getBalance(sub)).toBe(0.95);
  });

  test("a nested receipt settles nothing when its task has expired", async () => {
    const [worker, sub] = [await createBuyer(t, 10), await createSeller(t, 1)];
    const given = await submitAcceptedTask(t, worker, sub);
    await t.clock.advance(900_000);
    const outer = await submitAcceptedTask(t, worker, worker);
    await expectOnlyOuter(outer, [sub], nesting(worker, outer, [createReceipt(sub, given)]));
  });
});
