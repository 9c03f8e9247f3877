import { createRecommender, createRelayClient, delegate } from "@agent/client";
import type { VerifiablePresentation } from "@agent/credentials";
import { createReceipt, type TaskInput, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  [boss, worker] = [await t.createAgent(), await t.createAgent()];
});
afterEach(() => t.close());

const clientOf = (identity: TestAgent) =>
  createRelayClient({
    baseUrl: "http://relay.test",
    identity,
    now: t.clock.now,
    fetch: async (input, init) => t.relay.fetch(new Request(input, init)),
  });

/** Completes all open tasks of the worker and returns their number. */
async function completeOpenTasks(): Promise<number> {
  const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks?status=pending`);
  const tasks = body["tasks"] as TaskInput[];
  for (const task of tasks) {
    const path = `/agent/${worker.agentId}/task/${task.task_id}/result`;
    expect(await t.as(worker, "POST", path, createReceipt(worker, task))).toMatchObject({
      status: 200,
    });
  }
  return tasks.length;
}

test("a delegator's recommendation after a verified receipt is presented beside the relay's credential", async () => {
  const client = clientOf(boss);
  const recommender = createRecommender(client, { ...boss, now: t.clock.now });
  const delegated = delegate(client, {
    agentId: worker.agentId,
    prompt: "work",
    timeoutMs: 60_000,
    now: t.clock.now,
    recommender,
  });
  await expect.poll(completeOpenTasks).toBe(1);

  const done = await delegated;
  expect(done).toMatchObject({ ok: true, recommendation: { ok: true } });
  const recommended = done.recommendation?.ok === true ? done.recommendation.credentials : [];
  expect(recommended.map(({ issuer, type }) => [issuer, type[1]])).toEqual([
    [boss.did, "AgentReputationCredential"],
    [boss.did, "AgentTrustCredential"],
  ]);

  const path = `/api/v1/agents/${worker.agentId}/presentation`;
  const { body } = await t.as(worker, "POST", path);
  const shown = (body["presentation"] as VerifiablePresentation).verifiableCredential;
  expect(shown.map(({ issuer }) => issuer)).toEqual([t.did, t.did, boss.did, boss.did]);
  expect(shown.slice(2).toReversed()).toEqual(recommended);
});

test("the relay's trust credential is not renewed after a delegator blocks the agent", async () => {
  const client = clientOf(boss);
  const recommender = createRecommender(client, { ...boss, now: t.clock.now });
  await t.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" });
  await completeOpenTasks();
  const blocked = await client.setTrustLevel({
    params: { agentId: boss.agentId, remoteId: worker.agentId },
    body: { trust_level: "blocked" },
  });
  if (!blocked.ok) throw new Error(blocked.code);
  await t.clock.advance(3_600_001);
  expect(await recommender.attest(blocked.body)).toMatchObject({ ok: true });

  const path = `/api/v1/agents/${worker.agentId}/presentation?type=AgentTrustCredential`;
  const { body } = await t.as(worker, "POST", path);
  const shown = (body["presentation"] as VerifiablePresentation).verifiableCredential;
  expect(shown).toMatchObject([
    { issuer: boss.did, credentialSubject: { trust_level: "blocked", id: worker.did } },
  ]);
});
