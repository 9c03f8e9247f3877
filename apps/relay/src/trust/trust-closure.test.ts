import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

interface Trusted {
  readonly agent_id: string;
  readonly trust: number;
  readonly path: readonly string[];
}

/** Creates an agent that sells and buys. */
async function trader(): Promise<TestAgent> {
  const agent = await createSeller(t, 1);
  await t.deposit(agent, 100);
  return agent;
}

/** First contact is worth 0.3, five successful tasks 0.6, and twenty 0.9. */
async function trusts(by: TestAgent, worker: TestAgent, tasks: number): Promise<void> {
  for (let i = 0; i < tasks; i += 1) {
    const task = await submitAcceptedTask(t, by, worker);
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  }
}

async function block(by: TestAgent, remote: TestAgent): Promise<void> {
  const path = `/api/v1/agents/${by.agentId}/trust/${remote.agentId}`;
  expect(await t.as(by, "PUT", path, { trust_level: "blocked" })).toMatchObject({ status: 200 });
}

async function closureOf(agent: TestAgent): Promise<Trusted[]> {
  const answer = await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/trust-closure`);
  expect(answer).toMatchObject({ status: 200, body: { agent_id: agent.agentId } });
  return answer.body["closure"] as Trusted[];
}

const pathFrom = (source: TestAgent, target: TestAgent, asked = target) =>
  t.as(asked, "GET", `/api/v1/agents/${source.agentId}/path-to/${target.agentId}`);

const idsOf = (...agents: TestAgent[]) => agents.map(({ agentId }) => agentId);

describe("the trust closure", () => {
  test("the trust closure is empty for an agent without history", async () => {
    expect(await closureOf(await t.createAgent())).toEqual([]);
  });

  test("the trust closure has each agent once, by its most trusted path, ordered from the most trusted agent", async () => {
    const [a, b, c, d] = [
      await createBuyer(t, 100),
      await trader(),
      await trader(),
      await trader(),
    ];
    await trusts(a, b, 20);
    await trusts(b, c, 5);
    await trusts(a, c, 1);
    await trusts(c, d, 1);
    const [first, second, third, ...more] = await closureOf(a);
    expect(first).toEqual({ agent_id: b.agentId, trust: 0.9, path: idsOf(a, b) });
    expect(second).toMatchObject({ agent_id: c.agentId, path: idsOf(a, b, c) });
    expect(second?.trust).toBeCloseTo(0.9 * 0.6);
    expect(third).toMatchObject({ agent_id: d.agentId, path: idsOf(a, b, c, d) });
    expect(third?.trust).toBeCloseTo(0.9 * 0.6 * 0.3);
    expect(more).toEqual([]);
    // Trust applies in one direction only.
    expect(await closureOf(d)).toEqual([]);
  });

  test("the trust closure does not lead back to the agent itself", async () => {
    const [a, b] = [await trader(), await trader()];
    await trusts(a, b, 1);
    await trusts(b, a, 1);
    expect(await closureOf(a)).toEqual([{ agent_id: b.agentId, trust: 0.3, path: idsOf(a, b) }]);
  });

  test("CR10 the trust closure excludes an agent that its owner blocked, though others trust it", async () => {
    const [a, b, c] = [await createBuyer(t, 100), await trader(), await trader()];
    await trusts(a, b, 1);
    await trusts(b, c, 20);
    expect((await closureOf(a)).map(({ agent_id }) => agent_id)).toEqual(idsOf(b, c));
    await block(a, c);
    expect((await closureOf(a)).map(({ agent_id }) => agent_id)).toEqual(idsOf(b));
    expect(await closureOf(b)).toMatchObject([{ agent_id: c.agentId }]);
    expect(await pathFrom(a, c)).toMatchObject({ status: 404 });
  });

  test("CR10 the trust closure ignores the trust that a blocked agent has in others", async () => {
    const [a, b, c, d] = [
      await createBuyer(t, 100),
      await trader(),
      await trader(),
      await trader(),
    ];
    await trusts(a, b, 5);
    await trusts(b, c, 5);
    await trusts(c, d, 5);
    await block(a, c);
    expect((await closureOf(a)).map(({ agent_id }) => agent_id)).toEqual(idsOf(b));
    // A second, less trusted path remains.
    await trusts(b, d, 1);
    expect((await closureOf(a))[1]).toMatchObject({ agent_id: d.agentId, path: idsOf(a, b, d) });
    expect(await pathFrom(a, d)).toMatchObject({ status: 200, body: { path: idsOf(a, b, d) } });
  });

  test("the trust closure can be read by its agent and the operator only", async () => {
    const [a, b] = [await t.createAgent(), await t.createAgent()];
    const path = `/api/v1/agents/${a.agentId}/trust-closure`;
    expect(await t.as(b, "GET", path)).toMatchObject({
      status: 403,
      body: { code: "auth.not_owner" },
    });
    expect(await t.asOperator("GET", path)).toMatchObject({ status: 200 });
  });

  test("the trust closure is limited to ten requests a minute", async () => {
    const limited = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const path = `/api/v1/agents/${limited.relay.relayId}/trust-closure`;
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await limited.asOperator("GET", path)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    await limited.close();
  });
});

describe("the path to an agent", () => {
  test("the path to an agent is that of the trust closure, whichever agent requests it", async () => {
    const [a, b, c] = [await createBuyer(t, 100), await trader(), await trader()];
    await trusts(a, b, 5);
    await trusts(b, c, 5);
    const stranger = await t.createAgent();
    const closure = await closureOf(a);
    expect(closure).toHaveLength(2);
    for (const { agent_id: target, trust, path } of closure) {
      const agent = target === b.agentId ? b : c;
      const answer = await pathFrom(a, agent, stranger);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual({ source: a.agentId, target, trust, path });
    }
  });

  test("the path to an agent is answered with 404 backwards, to oneself, and to or from strangers", async () => {
    const [a, b] = [await createBuyer(t, 100), await trader()];
    await trusts(a, b, 1);
    const stranger = await t.createAgent();
    for (const [source, target] of [
      [b, a],
      [a, a],
      [a, stranger],
      [stranger, b],
    ] as const) {
      expect(await pathFrom(source, target)).toMatchObject({
        status: 404,
        body: { code: "trust.no_path", error: "No trusted path found" },
      });
    }
  });
});
