import type { ExecutionReceipt } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import {
  startHttpEndpoint,
  startMcpEndpoint,
  registerEndpoint,
  textResult,
  type Endpoint,
  type McpEndpoint,
  type TaskArguments,
} from "../../test/network/endpoint.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  putListing,
  createSeller,
  submitTask,
  getTaskAt,
  type Delegation,
} from "../../test/market.ts";
import { createReceipt, processCount, type Reply } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
const endpoints: Endpoint[] = [];
beforeEach(async () => {
  t = await serveTestRelay();
  boss = await createBuyer(t, 100);
});
afterEach(async () => {
  await t.close();
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

function opened<E extends Endpoint>(endpoint: E): E {
  endpoints.push(endpoint);
  return endpoint;
}

const receiptBy = (agent: TestAgent, args: TaskArguments): ExecutionReceipt =>
  createReceipt(agent, {
    task_id: args.relay_task_id,
    prompt: args.prompt,
    submitted_at: t.clock.now(),
  });

type Tool = (args: TaskArguments) => CallToolResult | Promise<CallToolResult>;

/** Registers an endpoint for an agent, by default one that executes the task. */
async function endpointOf(agent: TestAgent, tool?: Tool): Promise<McpEndpoint> {
  const answer: Tool = tool ?? ((args) => textResult(JSON.stringify(receiptBy(agent, args))));
  const endpoint = opened(await startMcpEndpoint(answer));
  await registerEndpoint(t, agent, endpoint.url);
  return endpoint;
}

const fails: Tool = () => ({ ...textResult("no"), isError: true });
const hangs: Tool = () => new Promise<CallToolResult>(() => {});

const assigneeOf = async ({ path }: Delegation) => (await getTaskAt(t, path)).assigned_to;

const failedAt = ({ agentId }: TestAgent) =>
  t.listLogged("mcp.forward_failed").some(({ agent_id }) => agent_id === agentId);

function delegated(target: TestAgent, { status, body }: Reply): Delegation {
  expect(status).toBe(201);
  const task_id = body["task_id"] as string;
  const path = `/agent/${target.agentId}/task/${task_id}`;
  return { task_id, path, prompt: "work", submitted_at: t.clock.now() };
}

const becomes = ({ path }: Delegation, status: string) =>
  expect.poll(async () => (await getTaskAt(t, path)).status).toBe(status);

const required = { required_capabilities: ["summarise"] };

interface Rivals {
  /** This agent has no listing. */
  readonly target: TestAgent;
  /** This agent ranks first, because it has worked for the boss before. */
  readonly first: TestAgent;
  readonly second: TestAgent;
}

async function rivals(prices: readonly [number, number] = [3, 2]): Promise<Rivals> {
  const target = await t.createAgent();
  const [first, second] = [await createSeller(t, 0), await createSeller(t, prices[1])];
  const before = await submitAcceptedTask(t, boss, first);
  await t.as(first, "POST", `${before.path}/result`, createReceipt(first, before));
  await putListing(t, first, prices[0]);
  return { target, first, second };
}

describe("RT1 a task has one assignee at a time", () => {
  test("a task is assigned only to the executor that scored routing has chosen", async () => {
    const { target, first, second } = await rivals([1, 1]);
    const devices = [
      await t.connectDevice(second),
      await t.connectDevice(target),
      await t.connectDevice(boss),
    ];
    const chosen = await t.connectDevice(first);
    const task = await submitAcceptedTask(t, boss, target, required);
    expect(await chosen.next("task_assigned")).toMatchObject({
      task: { task_id: task.task_id, agent_id: target.agentId, assigned_to: first.agentId },
    });
    for (const device of devices) expect(await device.takeRemaining()).toEqual([]);
  });

  test("a task is sent to the sockets of its executor before the endpoint", async () => {
    const worker = await createSeller(t, 1);
    const endpoint = await endpointOf(worker);
    const device = await t.connectDevice(worker);
    await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    await settleEventLoop();
    expect(endpoint.requests).toEqual([]);
  });

  test("a task is sent to the endpoint if no socket can do it", async () => {
    const worker = await createSeller(t, 1);
    const endpoint = await endpointOf(worker);
    const device = await t.connectDevice(worker);
    device.send({ type: "capabilities", capabilities: ["translate"] });
    await settleEventLoop();
    const task = await submitAcceptedTask(t, boss, worker, required);
    await becomes(task, "completed");
    expect(endpoint.calls).toHaveLength(1);
    expect(await device.takeRemaining()).toEqual([]);
  });

  test("a task can neither be claimed nor offered while an endpoint executes it", async () => {
    const worker = await createSeller(t, 1);
    const endpoint = await endpointOf(worker, hangs);
    const task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    const device = await t.connectDevice(worker);
    device.send({ type: "claim", task_id: task.task_id });
    expect(await device.next("error")).toMatchObject({ code: "task.not_pending" });
    expect(await device.takeRemaining()).toEqual([]);
    // The executor may still deliver its result over HTTP.
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  });

  test("a task is delivered to an agent that submits to itself", async () => {
    const device = await t.connectDevice(boss);
    const task = await submitAcceptedTask(t, boss, boss);
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });
});

describe("an executor that does not do its task", () => {
  type GiveUp = (task: Delegation) => Promise<void>;
  const atOnce: GiveUp = async () => {};
  const ways: [string, (first: TestAgent) => Promise<GiveUp>][] = [
    ["has neither socket nor endpoint", async () => atOnce],
    [
      "has an endpoint that refuses connections",
      async (first) => {
        const endpoint = await startMcpEndpoint(fails);
        await endpoint.close();
        await registerEndpoint(t, first, endpoint.url);
        return atOnce;
      },
    ],
    [
      "has an endpoint that answers 401",
      async (first) => {
        const endpoint = await startHttpEndpoint((_, response) => response.writeHead(401).end());
        await registerEndpoint(t, first, opened(endpoint).url);
        return atOnce;
      },
    ],
    [
      "has an endpoint whose tool fails",
      async (first) => {
        await endpointOf(first, fails);
        return atOnce;
      },
    ],
    [
      "has an endpoint that returns another agent's receipt",
      async (first) => {
        await endpointOf(first, (args) => textResult(JSON.stringify(receiptBy(boss, args))));
        return atOnce;
      },
    ],
    [
      "has an endpoint that exceeds the submitter's wall clock",
      async (first) => {
        const endpoint = await endpointOf(first, hangs);
        return async () => {
          await expect.poll(() => endpoint.calls).toHaveLength(1);
          await t.clock.advance(5_000);
        };
      },
    ],
    [
      "refuses it",
      async (first) => {
        const device = await t.connectDevice(first);
        return async ({ task_id }) => {
          await device.next("task_assigned");
          device.send({ type: "refuse", task_id });
        };
      },
    ],
    [
      "refuses it after a claim",
      async (first) => {
        const device = await t.connectDevice(first);
        return async ({ task_id }) => {
          await device.next("task_assigned");
          device.send({ type: "claim", task_id });
          await device.next("claimed");
          device.send({ type: "refuse", task_id });
        };
      },
    ],
    [
      "closes its socket before a claim",
      async (first) => {
        const device = await t.connectDevice(first);
        return async () => {
          await device.next("task_assigned");
          device.socket.close();
        };
      },
    ],
    [
      "stops responding after a claim",
      async (first) => {
        const device = await t.connectDevice(first);
        return async ({ task_id }) => {
          await device.next("task_assigned");
          device.send({ type: "claim", task_id });
          await device.next("claimed");
          device.socket.terminate();
          await t.advance(66_000);
        };
      },
    ],
  ];

  test.each(ways)(
    "an executor that %s loses the task to the next one, which is paid its own price",
    async (_, prepare) => {
      const { target, first, second } = await rivals([3, 2]);
      const giveUp = await prepare(first);
      const device = await t.connectDevice(second);
      const answer = await submitTask(t, boss, target, { ...required, wall_clock_ms: 5_000 });
      expect(answer.body).toMatchObject({
        routing_choice: { selected_agent: first.agentId },
        estimated_cost: 3,
        amount_locked: 3.6,
      });
      const task = delegated(target, answer);
      await giveUp(task);
      expect(await device.next("task_assigned")).toMatchObject({
        task: { task_id: task.task_id, assigned_to: second.agentId, estimated_cost: 2 },
      });
      device.send({
        type: "result",
        task_id: task.task_id,
        receipt: { ...createReceipt(second, task) },
      });
      await device.next("result_accepted");
      expect([
        await t.getBalance(boss),
        await t.getBalance(first),
        await t.getBalance(second),
      ]).toEqual([98, 0, 1.9]);
      await expectConsistentBooks(t, { holds: 0 });
    },
  );

  test.each(ways)(
    "an executor that %s keeps the task if there is no other executor",
    async (_, prepare) => {
      const { target, first, second } = await rivals([3, 2]);
      const giveUp = await prepare(first);
      await endpointOf(second, fails);
      const answer = await submitTask(t, boss, target, { ...required, wall_clock_ms: 5_000 });
      const task = delegated(target, answer);
      await giveUp(task);
      await expect.poll(() => failedAt(second)).toBe(true);
      await expect
        .poll(() => getTaskAt(t, task.path))
        .toMatchObject({
          status: "pending",
          assigned_to: first.agentId,
          estimated_cost: 3,
          amount_locked: 3.6,
        });
      const device = await t.connectDevice(first);
      expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
      device.send({
        type: "result",
        task_id: task.task_id,
        receipt: { ...createReceipt(first, task) },
      });
      await device.next("result_accepted");
      expect([await t.getBalance(boss), await t.getBalance(first)]).toEqual([97, 2.85]);
    },
  );

  test("the executor that follows an idle one is sent each task once, even while background jobs run", async () => {
    const { target, first, second } = await rivals([1, 1]);
    const [giving, taking] = [await t.connectDevice(first), await t.connectDevice(second)];
    const tasks: Delegation[] = [];
    for (let count = 0; count < 40; count++) {
      tasks.push(await submitAcceptedTask(t, boss, target, required));
      await giving.next("task_assigned");
    }
    for (const { task_id } of tasks) {
      giving.send({ type: "refuse", task_id });
      await t.clock.advance(1_000);
    }
    const sent = await taking.takeRemaining();
    const ids = sent.map((message) => message.type === "task_assigned" && message.task.task_id);
    expect(ids).toHaveLength(tasks.length);
    expect(new Set(ids)).toEqual(new Set(tasks.map(({ task_id }) => task_id)));
  });

  test("an idle executor is never followed by one that costs more than the payer was told", async () => {
    const { target, first, second } = await rivals([2, 3]);
    const dear = await t.connectDevice(second);
    await endpointOf(first, fails);
    const task = await submitAcceptedTask(t, boss, target, required);
    await expect.poll(() => t.listLogged("mcp.forward_failed")).toHaveLength(1);
    expect(await dear.takeRemaining()).toEqual([]);
    expect(await assigneeOf(task)).toBe(first.agentId);
  });

  test("an idle executor is followed by the next one within the budget, however many dearer ones rank higher", async () => {
    for (let i = 0; i < 9; i++) {
      const dear = await createSeller(t, 0);
      const before = await submitAcceptedTask(t, boss, dear);
      await t.as(dear, "POST", `${before.path}/result`, createReceipt(dear, before));
      await putListing(t, dear, 9);
    }
    const { target, first, second } = await rivals([2, 2]);
    await endpointOf(first, fails);
    const device = await t.connectDevice(second);
    const task = await submitAcceptedTask(t, boss, target, { ...required, max_budget: 2 });
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
  });

  test("an idle executor is followed by the target itself when no other candidate is left", async () => {
    const { target } = await rivals();
    const device = await t.connectDevice(target);
    const task = await submitAcceptedTask(t, boss, target, required);
    expect(await device.next("task_assigned")).toMatchObject({
      task: { task_id: task.task_id, assigned_to: null, estimated_cost: 0 },
    });
  });

  test("an idle executor cannot deliver once the next one has the task", async () => {
    const { target, first, second } = await rivals();
    const device = await t.connectDevice(second);
    const task = await submitAcceptedTask(t, boss, target, required);
    await device.next("task_assigned");
    const late = await t.as(first, "POST", `${task.path}/result`, createReceipt(first, task));
    expect(late).toMatchObject({ status: 403 });
    expect(await assigneeOf(task)).toBe(second.agentId);
  });

  test.each(["RT2 the submitter", "an agent that the submitter excludes"])(
    "an idle executor is never followed by %s",
    async (who) => {
      const { target, first, second } = await rivals();
      const isSubmitter = who.startsWith("RT2");
      const payer = isSubmitter ? second : boss;
      await t.deposit(second, 10);
      const device = await t.connectDevice(second);
      const excluded = isSubmitter ? {} : { exclude_agents: [second.agentId] };
      const task = await submitAcceptedTask(t, payer, target, { ...required, ...excluded });
      await endpointOf(first, fails);
      await expect.poll(() => failedAt(first)).toBe(true);
      expect(await device.takeRemaining()).toEqual([]);
      expect(await assigneeOf(task)).toBe(first.agentId);
    },
  );
});

describe("unavailable endpoints", () => {
  // Each process tries an endpoint for itself.
  test.runIf(processCount === 1)(
    "an endpoint that does not answer is paused, and then receives its waiting tasks",
    async () => {
      const worker = await createSeller(t, 1);
      let up = false;
      const endpoint = opened(
        await startMcpEndpoint(
          (args) => textResult(JSON.stringify(receiptBy(worker, args))),
          () => up,
        ),
      );
      await registerEndpoint(t, worker, endpoint.url);
      const tasks = [await submitAcceptedTask(t, boss, worker)];
      await expect.poll(() => t.listLogged("mcp.forward_failed")).toHaveLength(1);
      const asked = endpoint.requests.length;
      tasks.push(await submitAcceptedTask(t, boss, worker));
      await t.clock.advance(999);
      await settleEventLoop();
      expect(endpoint.requests).toHaveLength(asked);
      up = true;
      await t.clock.advance(1);
      for (const task of tasks) await becomes(task, "completed");
    },
  );

  test("an endpoint that does not answer is tried again at once when its agent registers again", async () => {
    const worker = await createSeller(t, 1);
    const dead = await startMcpEndpoint(fails);
    await dead.close();
    await registerEndpoint(t, worker, dead.url);
    const tasks = [];
    for (let i = 0; i < 20; i++) tasks.push(await submitAcceptedTask(t, boss, worker));
    await expect.poll(() => t.listLogged("mcp.forward_failed").length).toBeGreaterThan(0);
    await settleEventLoop();
    for (const task of tasks) await becomes(task, "pending");
    const endpoint = await endpointOf(worker);
    for (const task of tasks) await becomes(task, "completed");
    expect(endpoint.calls).toHaveLength(20);
  });

  test("an endpoint that does not answer receives few attempts, however many tasks wait for it", async () => {
    const worker = await createSeller(t, 0);
    for (let i = 0; i < 50; i++) await submitAcceptedTask(t, boss, worker);
    const endpoint = opened(
      await startHttpEndpoint((_, response) => response.writeHead(503).end()),
    );
    await registerEndpoint(t, worker, endpoint.url);
    await settleEventLoop();
    await settleEventLoop();
    expect(t.listLogged("mcp.forward_failed").length).toBeLessThanOrEqual(8);
  });

  test("an endpoint is not called when its agent has left discovery", async () => {
    const worker = await createSeller(t, 0);
    const endpoint = await endpointOf(worker);
    await t.as(worker, "DELETE", `/api/v1/agents/${worker.agentId}`);
    await submitAcceptedTask(t, boss, worker);
    await settleEventLoop();
    expect(endpoint.requests).toEqual([]);
  });

  test("an endpoint that does not answer does not delay leases, expiry or other tasks", async () => {
    const [slow, other] = [await createSeller(t, 0), await createSeller(t, 0)];
    const { target, first } = await rivals();
    const device = await t.connectDevice(first);
    const endpoint = await endpointOf(slow, hangs);
    await putListing(t, slow, { summarise: 0 });
    const claimed = await submitAcceptedTask(t, boss, target, required);
    await device.next("task_assigned");
    device.send({ type: "claim", task_id: claimed.task_id });
    await device.next("claimed");
    const expiring = await submitAcceptedTask(t, boss, other);
    device.socket.terminate();
    await t.advance(66_000);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    const prompt = await t.connectDevice(other);
    expect(await prompt.next("task_assigned")).toMatchObject({
      task: { task_id: expiring.task_id },
    });
    await t.advance(230_000);
    await t.advance(230_000);
    await t.advance(230_000);
    await t.advance(150_000);
    expect(await t.as(boss, "GET", expiring.path)).toMatchObject({ status: 404 });
  });
});
