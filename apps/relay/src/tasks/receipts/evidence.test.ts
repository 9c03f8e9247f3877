import {
  bytesToHex,
  canonicalize,
  generateKeyPair,
  sha256Hex,
  sign,
  signJson,
  signSuccession,
  toBase64Url,
} from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import { replayRanking } from "@agent/routing-semiring";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { formatBundle, PROOF_LEVELS, verifyArtifact, type EvidenceBundle } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../../test/market.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
});
afterEach(() => t.close());

async function deliver(by: TestAgent, { path }: Delegation, receipt: ExecutionReceipt) {
  expect(await t.as(by, "POST", `${path}/result`, receipt)).toMatchObject({ status: 200 });
}

/** Returns the evidence file as it is sent. */
async function fileOf({ path }: Delegation): Promise<string> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const url = `http://relay.test${path}/evidence`;
  const answer = await t.relay.fetch(new Request(url, { headers }));
  expect(answer.status).toBe(200);
  return answer.text();
}

async function relayKey(): Promise<string> {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  return body["public_key"] as string;
}

/** Returns the agent after a rotation of its key, by a record with `more` members. */
async function rotated(agent: TestAgent, seed: number, more: object = {}): Promise<TestAgent> {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  const {
    old_key_signature: _old,
    new_key_signature: _new,
    ...members
  } = signSuccession({
    agent_id: agent.agentId,
    oldSecretKey: agent.secretKey,
    newSecretKey: secretKey,
    timestamp: t.clock.now(),
  });
  const text = canonicalize({ ...members, ...more });
  const succession = {
    ...members,
    ...more,
    old_key_signature: toBase64Url(sign(text, agent.secretKey)),
    new_key_signature: toBase64Url(sign(text, secretKey)),
  };
  const body = { agent_id: agent.agentId, public_key: bytesToHex(publicKey), succession };
  const { status } = await t.request("POST", "/api/v1/agents/bootstrap", { body });
  expect(status).toBe(200);
  return { ...agent, publicKey: body.public_key, secretKey };
}

describe("the evidence of a finished task", () => {
  test("the evidence is valid at every proof level, three hops deep and after a rotation, and is small", async () => {
    const text = "x".repeat(1_024);
    const [boss, first, second] = [
      await createBuyer(t, 10),
      await createSeller(t, 2),
      await createSeller(t, 1),
    ];
    const third = await rotated(await createSeller(t, 0.5), 7);
    await t.deposit(first, 10);
    await t.deposit(second, 10);
    const outer = await submitAcceptedTask(t, boss, first, { prompt: text });
    const middle = await submitAcceptedTask(t, first, second, { prompt: text });
    const inner = await submitAcceptedTask(t, second, third, { prompt: text });
    const deepest = createReceipt(third, inner, { result: text });
    const nested = createReceipt(second, middle, { result: text, delegation_receipts: [deepest] });
    await deliver(third, inner, deepest);
    await deliver(second, middle, nested);
    const receipt = createReceipt(first, outer, { result: text, delegation_receipts: [nested] });
    await deliver(first, outer, receipt);

    const file = await fileOf(outer);
    expect(file).toBe(canonicalize(JSON.parse(file)));
    expect(new TextEncoder().encode(file).length).toBeLessThan(32_768);
    const verdict = verifyArtifact(file, { publicKey: await relayKey() });
    expect(verdict).toMatchObject({ kind: "bundle", valid: true });
    const shown = PROOF_LEVELS.filter(({ name }) => name !== "witnessed");
    expect(verdict.checks).toEqual(shown.map(({ name }) => ({ name, ok: true })));

    const bundle = JSON.parse(file) as EvidenceBundle;
    expect(bundle).toMatchObject({
      task: { task_id: outer.task_id, prompt: text, submitted_by: boss.agentId },
      routing: { choice: null, executors: [{ agent_id: first.agentId, price: 2 }] },
      receipt,
      settlements: [{ amount_settled: 2, fee: 0.1, net: 1.9, payee_id: first.agentId }],
      credential: { type: ["VerifiableCredential", "AgentReputationCredential"] },
    });
    expect(
      bundle.signers.map(({ agent_id, keys, chain }) => [agent_id, keys.length, chain.length]),
    ).toEqual([
      [first.agentId, 1, 0],
      [second.agentId, 1, 0],
      [third.agentId, 2, 1],
    ]);
    expect(bundle.postings.map(({ account, type, amount }) => [account, type, amount])).toEqual([
      [`held:${outer.task_id}`, "allocation_release", -2.4],
      [`agent:${boss.agentId}`, "allocation_release", 2.4],
      [`agent:${boss.agentId}`, "settlement_debit", -2],
      [`agent:${first.agentId}`, "settlement_credit", 1.9],
      ["relay:fees", "fee", 0.1],
    ]);
  });

  test("the evidence stays valid a day after its signer has rotated the key", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await deliver(worker, task, createReceipt(worker, task));
    await t.clock.advance(86_400_000);
    await rotated(worker, 8);
    expect(verifyArtifact(await fileOf(task), { publicKey: await relayKey() }).valid).toBe(true);
  });

  test("the evidence of a free or a failed task is valid without a payment", async () => {
    const [boss, free, paid] = [
      await createBuyer(t, 10),
      await createSeller(t, 0),
      await createSeller(t, 2),
    ];
    const done = await submitAcceptedTask(t, boss, free);
    await deliver(free, done, createReceipt(free, done));
    const failed = await submitAcceptedTask(t, boss, paid);
    await deliver(paid, failed, createReceipt(paid, failed, { status: "failed" }));
    const verdicts = [verifyArtifact(await fileOf(done)), verifyArtifact(await fileOf(failed))];
    expect(verdicts.map(({ valid }) => valid)).toEqual([true, true]);
    expect(JSON.parse(await fileOf(failed))).toMatchObject({
      settlements: [{ status: "refunded", amount_settled: 0 }],
      credential: null,
    });
  });

  test("the evidence proves no key of an agent that was never registered", async () => {
    const [boss, unknown] = [await t.createAgent(), t.createUnknownAgent()];
    const task = await submitAcceptedTask(t, boss, unknown);
    expect(
      await t.asOperator("POST", `${task.path}/result`, createReceipt(unknown, task)),
    ).toMatchObject({ status: 200 });
    expect(verifyArtifact(await fileOf(task))).toMatchObject({
      valid: false,
      code: "receipt.key_missing",
    });
  });

  test("E14: evidence is valid even if its receipt and its succession record are as deep as a request may be", async () => {
    const [boss, seller] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const nestedArrays = (levels: number) =>
      JSON.parse("[".repeat(levels) + "]".repeat(levels)) as object;
    const worker = await rotated(seller, 9, { note: nestedArrays(62) });
    const task = await submitAcceptedTask(t, boss, worker);
    const receipt = { ...createReceipt(worker, task), note: nestedArrays(63) };
    const paid = signJson(receipt, worker.secretKey);
    await deliver(worker, task, paid);

    const file = await fileOf(task);
    const bundle = JSON.parse(file) as EvidenceBundle;
    expect(bundle).toMatchObject({ receipt: paid, settlements: [{ amount_settled: 2 }] });
    const publicKey = await relayKey();
    expect(verifyArtifact(file, { publicKey })).toMatchObject({ kind: "bundle", valid: true });
    const changed = formatBundle({ ...bundle, created_at: 1 });
    expect(verifyArtifact(changed, { publicKey })).toMatchObject({
      valid: false,
      code: "bundle.signature_invalid",
    });
  });

  describe("the evidence of a task that was assigned by score", () => {
    const required = { required_capabilities: ["summarise"] };
    async function scored() {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 1)];
      await createSeller(t, 2);
      const task = await submitAcceptedTask(t, boss, worker, required);
      await deliver(worker, task, createReceipt(worker, task));
      const copyOf = async (agent: TestAgent) => {
        const { body } = await t.as(agent, "GET", `${task.path}/evidence`);
        return body as unknown as EvidenceBundle;
      };
      return { boss, worker, task, mine: await copyOf(boss), theirs: await copyOf(worker) };
    }

    test("the evidence of a scored task holds the inputs of the choice, from which a reader can repeat it", async () => {
      const { boss, worker, task, mine } = await scored();
      const { body: record } = await t.as(boss, "GET", `${task.path}/routing`);
      expect(mine.routing).toMatchObject({
        choice: { selected_agent: worker.agentId, alternatives_considered: 1 },
        record,
        record_hash: sha256Hex(canonicalize(record)),
      });
      expect(replayRanking(mine.routing.record!)).toEqual(mine.routing.choice);
      expect(verifyArtifact(mine, { publicKey: await relayKey() }).valid).toBe(true);
    });

    test("the evidence of a scored task shows the executor only the hash of the choice, without the trust in its rivals", async () => {
      const { mine, theirs } = await scored();
      expect(theirs.routing).toMatchObject({ record_hash: mine.routing.record_hash });
      expect(theirs.routing).not.toHaveProperty("record");
      expect(verifyArtifact(theirs, { publicKey: await relayKey() }).valid).toBe(true);
    });

    test("the evidence of a scored task has only the hash of a choice over 64 KiB", async () => {
      const many = Array.from({ length: 99 }, (_, at) => `${at}`.padEnd(250, "x"));
      const prices = Object.fromEntries([...many, "summarise"].map((each) => [each, 3]));
      for (let at = 0; at < 3; at += 1) await createSeller(t, prices);
      const { mine } = await scored();
      expect(mine.routing.record_hash).toHaveLength(64);
      expect(mine.routing).not.toHaveProperty("record");
      expect(verifyArtifact(mine).valid).toBe(true);
    });
  });

  test("the evidence is shown to the task's participants, who all get the same parts", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await deliver(worker, task, createReceipt(worker, task));
    const path = `${task.path}/evidence`;
    const [mine, theirs] = [await t.as(boss, "GET", path), await t.as(worker, "GET", path)];
    expect(mine.status).toBe(200);
    expect(theirs.body).toEqual(mine.body);
    expect(await t.as(await t.createAgent(), "GET", path)).toMatchObject({ status: 403 });
  });
});
