import type { TestAgent } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onlyOn } from "../engine/engine.ts";
import { call, startCluster, type Cluster, type Member } from "./start-cluster.ts";

/** A card and the message to its agent may be requested from different processes. */
describe.runIf(onlyOn("postgres"))("A12: cards that one of two processes showed", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(2);
  });
  afterAll(() => cluster.stop());

  const a = () => cluster.members[0] as Member;
  const b = () => cluster.members[1] as Member;

  async function send(member: Member, boss: TestAgent, worker: TestAgent) {
    const params = {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "work" }] },
      configuration: { returnImmediately: true },
    };
    const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
    const headers = { "a2a-version": "1.0" };
    const answer = await cluster.as(boss, member, "POST", `/a2a/${worker.agentId}`, {
      body,
      headers,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  }

  test.each<[string, boolean]>([
    ["with the token of the sender", true],
    ["without a token", false],
  ])("A12: a card read %s counts at both", async (_, isSignedIn) => {
    const [boss, worker] = [await cluster.createAgent(), await cluster.createWorker(0.01)];
    await cluster.deposit(boss, 2_000);
    const card = `/a2a/${worker.agentId}/.well-known/agent-card.json`;
    const readCard = (member: Member) =>
      isSignedIn ? cluster.as(boss, member, "GET", card) : call(member, "GET", card);
    const raise = (unit_cost: number) =>
      cluster.as(worker, a(), "POST", `/api/v1/agents/${worker.agentId}/listing`, {
        body: {
          capabilities: ["summarise"],
          pricing: [{ capability: "summarise", unit_cost, currency: "USD", per: "task" }],
        },
      });
    expect((await readCard(a())).status).toBe(200);
    expect((await raise(500)).status).toBe(200);
    expect(await send(b(), boss, worker)).toMatchObject({
      error: { data: [{}, { code: "budget.max_exceeded", estimated_cost: 500 }] },
    });
    await readCard(a());
    expect(await send(b(), boss, worker)).toMatchObject({ result: { task: {} } });
    await raise(501);
    for (const member of [a(), b()]) {
      expect(await send(member, boss, worker)).toMatchObject({
        error: { data: [{}, { code: "budget.max_exceeded", estimated_cost: 501 }] },
      });
    }
  });
});
