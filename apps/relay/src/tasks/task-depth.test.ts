import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getAgentStates,
  getTaskAt,
  submitAcceptedTask,
  submitTask,
  type Delegation,
} from "../../test/market.ts";
import { issueToken } from "../../test/agents/delegation-tokens.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const SUMMARISE = { required_capabilities: ["summarise"] };

/** Delegates in turns between two agents, each task for the work of the one before. */
async function delegateInTurns(pair: [TestAgent, TestAgent], count: number): Promise<Delegation> {
  const [first, second] = pair;
  let task = await submitAcceptedTask(t, first, second);
  for (let depth = 1; depth < count; depth += 1) {
    const [by, to] = depth % 2 === 1 ? [second, first] : [first, second];
    task = await submitAcceptedTask(t, by, to, { parent_task_id: task.task_id });
  }
  return task;
}

describe("the depth of a task", () => {
  test("H8: two agents that delegate to each other are stopped below 10 delegations, and nothing else changes", async () => {
    const pair: [TestAgent, TestAgent] = [await createBuyer(t, 100), await createBuyer(t, 100)];
    const deepest = await delegateInTurns(pair, 11);
    const before = await getAgentStates(t, pair);
    // The eleventh task went to the second agent, because the first submitted it.
    const refused = await submitTask(t, pair[1], pair[0], { parent_task_id: deepest.task_id });
    expect(refused).toMatchObject({ status: 400, body: { code: "task.too_deep" } });
    expect(await getAgentStates(t, pair)).toEqual(before);
    await expectConsistentBooks(t);
  });

  test("H8: an agent that works on many tasks may submit any number of tasks for each", async () => {
    const [boss, worker, helper] = [
      await createBuyer(t, 50),
      await createBuyer(t, 50),
      await t.createAgent(),
    ];
    for (let round = 0; round < 12; round += 1) {
      const task = await submitAcceptedTask(t, boss, worker);
      await submitAcceptedTask(t, worker, helper, { parent_task_id: task.task_id });
      const free = await submitAcceptedTask(t, worker, helper);
      expect(await getTaskAt(t, free.path)).toMatchObject({ status: "pending" });
    }
  });

  test("H8: only an open task that the submitter executes can be named as parent", async () => {
    const [boss, worker, stranger] = [
      await createBuyer(t, 10),
      await createSeller(t, 2),
      await createBuyer(t, 10),
    ];
    const task = await submitAcceptedTask(t, boss, worker);
    const name = (by: TestAgent, id: string) =>
      submitTask(t, by, stranger, { parent_task_id: id, max_budget: 0 });
    const invalid = {
      status: 400,
      body: { code: "request.invalid", issues: [{ path: "parent_task_id" }] },
    };
    expect(await name(stranger, task.task_id)).toMatchObject(invalid);
    expect(await name(boss, task.task_id)).toMatchObject(invalid);
    expect(await name(worker, "unknown")).toMatchObject(invalid);
    expect((await name(worker, task.task_id)).status).toBe(201);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "completed" });
    expect(await name(worker, task.task_id)).toMatchObject(invalid);
  });

  test("H8: an expired task cannot be named as parent, even before it is removed", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(900_000);
    expect(await submitTask(t, worker, boss, { parent_task_id: task.task_id })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "parent_task_id" }] },
    });
  });

  test("H8: the operator can name a parent for the agent on whose behalf it acts", async () => {
    const [boss, worker, helper] = [
      await createBuyer(t, 10),
      await createSeller(t, 2),
      await t.createAgent(),
    ];
    const task = await submitAcceptedTask(t, boss, worker);
    const submit = (submitted_by: string) =>
      t.asOperator("POST", `/agent/${helper.agentId}/task`, {
        prompt: "work",
        submitted_by,
        parent_task_id: task.task_id,
      });
    expect((await submit(worker.agentId)).status).toBe(201);
    expect((await submit(boss.agentId)).status).toBe(400);
  });

  test("H8: a task with a delegation token, whose issuer pays, counts its depth too", async () => {
    const pair: [TestAgent, TestAgent] = [await createBuyer(t, 100), await createBuyer(t, 100)];
    const deepest = await delegateInTurns(pair, 10);
    const eleventh = await submitAcceptedTask(t, ...pair, {
      parent_task_id: deepest.task_id,
      delegation_token: issueToken(t, ...pair),
    });
    const last = await submitTask(t, pair[1], pair[0], {
      parent_task_id: eleventh.task_id,
      delegation_token: issueToken(t, pair[1], pair[0]),
    });
    expect(last).toMatchObject({ status: 400, body: { code: "task.too_deep" } });
  });
});

describe("scored routing below a parent", () => {
  test("H8: scored routing leaves out the executors of all tasks above, and chooses another agent", async () => {
    const boss = await createBuyer(t, 50);
    const [first, second] = [await createSeller(t, 1), await createSeller(t, 1)];
    await t.deposit(first, 20);
    await t.deposit(second, 20);
    const top = await submitAcceptedTask(t, boss, first);
    const below = await submitAcceptedTask(t, first, second, { parent_task_id: top.task_id });
    const third = { ...SUMMARISE, parent_task_id: below.task_id };
    // The first agent is the only other candidate, and it executes a task above.
    const refused = await submitTask(t, second, first, third);
    expect(refused).toMatchObject({ status: 422, body: { code: "task.no_candidate" } });
    const free = await createSeller(t, 1);
    const chosen = await submitTask(t, second, first, third);
    expect(chosen).toMatchObject({
      status: 201,
      body: { routing_choice: { selected_agent: free.agentId } },
    });
  });

  test("H8: scored routing chooses among all agents for a task without a parent", async () => {
    const boss = await createBuyer(t, 50);
    const only = await createSeller(t, 1);
    await submitAcceptedTask(t, boss, only);
    await t.deposit(only, 20);
    expect(await submitTask(t, boss, only, SUMMARISE)).toMatchObject({
      status: 201,
      body: { routing_choice: { selected_agent: only.agentId } },
    });
  });
});
