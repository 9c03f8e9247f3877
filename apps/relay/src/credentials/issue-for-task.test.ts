import { verifyCredential, type VerifiableCredential } from "@agent/credentials";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { credentialsPath } from "../../test/agents/credentials.ts";
import {
  createBuyer,
  createSeller,
  submitAcceptedTask,
  putListing,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  [boss, worker] = [await createBuyer(t, 100), await t.createAgent()];
});
afterEach(() => t.close());

const Reputation = "AgentReputationCredential";
const Trust = "AgentTrustCredential";

interface Shown {
  readonly credential_id: string;
  readonly credential: VerifiableCredential;
}

/** Lists the credentials about an agent, newest first. */
async function listCredentials(of: TestAgent, type: string): Promise<Shown[]> {
  const { body } = await t.asOperator("GET", `${credentialsPath(of)}?type=${type}&limit=200`);
  return (body["credentials"] ?? []) as Shown[];
}

const subjects = async (of: TestAgent, type: string) =>
  (await listCredentials(of, type)).map(({ credential }) => credential.credentialSubject);

type Change = Parameters<typeof createReceipt>[2];

const deliver = (task: Delegation, by: TestAgent, change?: Change): Promise<Reply> =>
  t.asOperator("POST", `${task.path}/result`, createReceipt(by, task, change));

/** Delivers the worker's receipt for a task of the boss after some ms. */
async function work(change?: Change, latencyMs = 0, by = boss): Promise<Reply> {
  const task = await submitAcceptedTask(t, by, worker);
  await t.clock.advance(latencyMs);
  return deliver(task, worker, change);
}

describe("Reputation for a completed receipt", () => {
  test("a completed receipt leads to a credential for an hour, signed by the relay and named in the answer", async () => {
    const answer = await work();
    expect(answer).toMatchObject({ status: 200, body: { status: "completed" } });
    const [shown] = await listCredentials(worker, Reputation);
    expect(answer.body["credential_id"]).toBe(shown!.credential_id);
    const { credential } = shown!;
    expect(credential).toMatchObject({ id: shown!.credential_id, issuer: t.did });
    expect(credential.id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const now = t.clock.now();
    expect(verifyCredential(credential, { now })).toMatchObject({ valid: true });
    expect(Date.parse(credential.validUntil!)).toBe(now + 3_600_000);
    expect(t.listLogged("credential.issued")).toMatchObject([
      { credential_id: shown!.credential_id, type: Reputation, agent_id: worker.agentId },
      { type: Trust, agent_id: worker.agentId },
    ]);
  });

  test("RC24 a repeated receipt is answered with the same credential", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const first = await deliver(task, worker);
    const again = await deliver(task, worker);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await listCredentials(worker, Reputation)).toHaveLength(1);
  });

  test("RC24 the relay issues one credential for eight concurrent copies of a receipt", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(task, worker)));
    const ids = answers.map(({ body }) => body["credential_id"]);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toBeTypeOf("string");
    expect(await listCredentials(worker, Reputation)).toHaveLength(1);
  });

  test("each agent of a chain gets a credential, and the answer names the outer one's", async () => {
    const helper = await t.createAgent();
    const outer = await submitAcceptedTask(t, boss, worker);
    const inner = await submitAcceptedTask(t, worker, helper);
    const nested = createReceipt(helper, inner);
    const { body } = await deliver(outer, worker, { delegation_receipts: [nested] });
    const [ofWorker] = await listCredentials(worker, Reputation);
    expect(body["credential_id"]).toBe(ofWorker!.credential_id);
    expect(await listCredentials(helper, Reputation)).toHaveLength(1);
  });

  test("a task without a delegator leads to reputation but no trust", async () => {
    const path = `/agent/${worker.agentId}/task`;
    const { body } = await t.asOperator("POST", path, { prompt: "work" });
    const task_id = body["task_id"] as string;
    const submitted_at = t.clock.now();
    await deliver({ task_id, prompt: "work", submitted_at, path: `${path}/${task_id}` }, worker);
    expect(await subjects(worker, Reputation)).toMatchObject([{ task_count: 1 }]);
    expect(await listCredentials(worker, Trust)).toEqual([]);
  });
});

describe("Receipts without reputation", () => {
  test.each(["failed", "denied"] as const)(
    "RC24 the relay issues no reputation for a %s receipt",
    async (status) => {
      const answer = await work({ status });
      expect(answer.body).toEqual({ status });
      expect(await listCredentials(worker, Reputation)).toEqual([]);
    },
  );

  test("RC19 the relay issues neither reputation nor trust for a task that an agent submits to itself", async () => {
    const task = await submitAcceptedTask(t, worker, worker);
    expect((await deliver(task, worker)).body).toEqual({ status: "completed" });
    expect(await listCredentials(worker, Reputation)).toEqual([]);
    expect(await listCredentials(worker, Trust)).toEqual([]);
  });

  test("the relay issues no reputation to an agent whose key is unknown", async () => {
    const unknown = t.createUnknownAgent();
    const task = await submitAcceptedTask(t, boss, unknown);
    expect((await deliver(task, unknown)).body).toEqual({ status: "completed" });
    expect(await listCredentials(unknown, Reputation)).toEqual([]);
  });

  test("the relay issues no reputation for a refused receipt", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const receipt = { ...createReceipt(worker, task), result: "another" };
    expect(await t.asOperator("POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 403,
    });
    expect(await listCredentials(worker, Reputation)).toEqual([]);
  });

  test("the relay issues no reputation while credentials are turned off", async () => {
    await t.close();
    t = await startTestRelay();
    [boss, worker] = [await t.createAgent(), await t.createAgent()];
    expect((await work()).body).toEqual({ status: "completed" });
    expect(await listCredentials(worker, Reputation)).toEqual([]);
    expect(await listCredentials(worker, Trust)).toEqual([]);
  });
});

describe("Figures of a reputation", () => {
  test("a reputation counts all tasks while none was paid", async () => {
    await work({}, 100);
    await work({ status: "failed" }, 5_000);
    await work({ status: "denied" }, 5_000);
    await work({}, 300);
    const [newest] = await subjects(worker, Reputation);
    expect(newest).toEqual({
      id: worker.did,
      success_rate: 2 / 3,
      avg_latency_ms: 200,
      task_count: 3,
      trust_score: 0.1,
      availability: 0,
      sample_size: 3,
      measured_at: t.clock.now(),
      fees_kept_band: "0",
    });
  });

  test("E26: free tasks of a friend do not hide that all paid tasks failed", async () => {
    const friend = await t.createAgent();
    const other = await createSeller(t, 1);
    // A failure counts for strangers only within the fees that its payer left by successes.
    for (let i = 0; i < 2; i += 1) {
      await deliver(await submitAcceptedTask(t, boss, other), other);
    }
    await putListing(t, worker, 1);
    for (let i = 0; i < 2; i += 1) await work({ status: "failed" });
    await putListing(t, worker, {});
    for (let i = 0; i < 5; i += 1) expect((await work({}, 1, friend)).status).toBe(200);
    expect(await subjects(worker, Reputation)).toEqual([]);
    await putListing(t, worker, 1);
    const answer = await work({}, 100);
    expect(answer.body).toHaveProperty("credential_id");
    expect(await subjects(worker, Reputation)).toMatchObject([
      { success_rate: 1 / 3, avg_latency_ms: 100, task_count: 8, sample_size: 3 },
    ]);
  });

  test("a reputation counts only paid tasks once one was paid", async () => {
    for (let i = 0; i < 3; i += 1) await work({}, 1);
    await putListing(t, worker, 2);
    await work({}, 100);
    expect((await subjects(worker, Reputation))[0]).toMatchObject({
      success_rate: 1,
      avg_latency_ms: 100,
      task_count: 4,
      sample_size: 1,
      availability: 0.45,
    });
  });

  test("CR7 a reputation measures latency by the relay's clock, whatever times the receipt contains", async () => {
    await work({ completed_at: t.clock.now() + 1 }, 700);
    expect((await subjects(worker, Reputation))[0]).toMatchObject({ avg_latency_ms: 700 });
  });

  test("CR6 a single payer does not raise the trust that the market shows", async () => {
    await putListing(t, worker, 1);
    for (let i = 0; i < 5; i += 1) await work();
    expect((await subjects(worker, Reputation))[0]).toMatchObject({ trust_score: 0.1 });
    const second = await createBuyer(t, 100);
    for (let i = 0; i < 5; i += 1) await work({}, 0, second);
    expect((await subjects(worker, Reputation))[0]).toMatchObject({ trust_score: 0.6 });
  });
});

describe("Trust credentials after a change of level", () => {
  const levels = async () =>
    (await subjects(worker, Trust)).map((s) => (s as { trust_level?: string }).trust_level);

  test("the relay issues a trust credential when the level rises, and none while it is unchanged", async () => {
    await putListing(t, worker, 0.2);
    for (let i = 0; i < 6; i += 1) await work();
    expect(await levels()).toEqual(["verified", "first_contact"]);
    const [newest] = await listCredentials(worker, Trust);
    expect(newest!.credential).toMatchObject({
      issuer: t.did,
      credentialSubject: {
        id: worker.did,
        interaction_count: 5,
        successful_tasks: 5,
        failed_tasks: 0,
        first_seen_at: t.clock.now(),
        last_seen_at: t.clock.now(),
        fees_kept_band: "0.05",
      },
    });
  });

  test("C5: a trust credential states no level above first contact without the fees of the pair", async () => {
    for (let i = 0; i < 20; i += 1) await work();
    expect(await levels()).toEqual(["first_contact", "first_contact", "first_contact"]);
    expect(await subjects(worker, Trust)).toMatchObject([
      { fees_kept_band: "0", successful_tasks: 20 },
      { fees_kept_band: "0", successful_tasks: 5 },
      { fees_kept_band: "0", successful_tasks: 1 },
    ]);
  });

  test("C5: the relay issues a new trust credential when the fees of a pair reach a threshold", async () => {
    await putListing(t, worker, 0.04);
    for (let i = 0; i < 25; i += 1) await work();
    expect(await levels()).toEqual(["verified", "first_contact", "first_contact", "first_contact"]);
    expect(await subjects(worker, Trust)).toMatchObject([
      { fees_kept_band: "0.05", successful_tasks: 25 },
      { fees_kept_band: "0", successful_tasks: 20 },
      { fees_kept_band: "0", successful_tasks: 5 },
      { fees_kept_band: "0", successful_tasks: 1 },
    ]);
    expect((await subjects(worker, Reputation))[0]).toMatchObject({ fees_kept_band: "0.05" });
  });

  test("C5: a trust credential states the full level for a pair whose fees reach its threshold", async () => {
    await putListing(t, worker, 1);
    for (let i = 0; i < 20; i += 1) await work();
    expect(await subjects(worker, Trust)).toMatchObject([
      { trust_level: "trusted", fees_kept_band: "0.5" },
      { trust_level: "verified", fees_kept_band: "0.5" },
      { trust_level: "verified", fees_kept_band: "0.05" },
      { trust_level: "first_contact", fees_kept_band: "0.05" },
    ]);
  });

  test("the relay issues a trust credential when the level falls", async () => {
    for (let i = 0; i < 3; i += 1) await work({ status: "failed" });
    expect(await levels()).toEqual(["unknown", "first_contact"]);
    expect(await listCredentials(worker, Reputation)).toEqual([]);
  });

  test("the relay issues a trust credential when a bad signature lowers the level", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const receipt = { ...createReceipt(worker, task), result: "another" };
    const path = `${task.path}/result`;
    expect(await t.as(worker, "POST", path, receipt)).toMatchObject({ status: 403 });
    expect(await levels()).toEqual(["first_contact"]);
    expect(t.listLogged("credential.issued")).toMatchObject([{ type: Trust }]);
  });
});
