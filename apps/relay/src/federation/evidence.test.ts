import { createReceipt } from "@agent/testkit";
import { verifyArtifact, type EvidenceBundle } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  startNetwork,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let a: TestSite;
let b: TestSite;
let c: TestSite;
beforeEach(async () => {
  network = await startNetwork(
    ["alpha", "beta", "gamma"],
    [
      [0, 1],
      [1, 2],
    ],
  );
  [a, b, c] = network.sites as [TestSite, TestSite, TestSite];
});
afterEach(() => network.close());

/** Completes a task of an agent of `a` at another relay, paid for if it has a price. */
async function done(price: number, at = b) {
  const boss = await a.createAgent();
  await a.deposit(boss, 10);
  const worker = await at.createWorker(price);
  await submitToBest(a, boss);
  const task = await waitForTask(at, worker);
  await completeTask(at, worker, task);
  await waitUntil(async () => {
    const { body } = await a.as(boss, "GET", `/agent/${boss.agentId}/task/${task.task_id}`);
    return body["receipt"] !== null;
  }, "the result comes back");
  await waitUntil(async () => (await a.getBalance(boss)) === 10 - price, "it is paid");
  return { boss, worker, task };
}

async function evidenceAt(site: TestSite, agentId: string, taskId: string) {
  const url = `http://relay.test/agent/${agentId}/task/${taskId}/evidence`;
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const text = await (await site.relay.fetch(new Request(url, { headers }))).text();
  const { body } = await site.request("GET", "/.well-known/agent-relay.json");
  const verdict = verifyArtifact(text, { publicKey: String(body["public_key"]), taskId });
  return { bundle: JSON.parse(text) as EvidenceBundle, verdict, relayKey: body["public_key"] };
}

const passedLevels = (names: readonly string[]) => names.map((name) => ({ name, ok: true }));
const whole = ["well_formed", "intact", "key_bound", "key_valid", "task_bound", "hashes_match"];

describe("the evidence of a task that a remote agent executed", () => {
  test("the evidence verifies without access to a relay, by the pinned key and the other relay's attestation", async () => {
    const { boss, worker, task } = await done(1);
    const { bundle, verdict } = await evidenceAt(a, boss.agentId, task.task_id);
    const { relayKey } = await evidenceAt(b, worker.agentId, task.task_id);
    expect(verdict).toMatchObject({ kind: "bundle", valid: true });
    expect(verdict.checks).toEqual(passedLevels([...whole, "attested", "settled", "logged"]));
    expect(bundle).toMatchObject({
      signers: [{ agent_id: worker.agentId, keys: [{ public_key: worker.publicKey }] }],
      peer: { relay_id: b.relayId, public_key: relayKey, attestation: { relay_id: b.relayId } },
      settlements: [{ payer_id: boss.agentId, payee_id: worker.agentId, net: 0.95 }],
    });
  });

  test("the evidence verifies at the executing relay as well, by that relay's own records", async () => {
    const { worker, task } = await done(1);
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    const { bundle, verdict } = await evidenceAt(b, worker.agentId, task.task_id);
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks).toEqual(passedLevels([...whole, "attested", "settled", "logged"]));
    expect(bundle).not.toHaveProperty("peer");
    expect(bundle.settlements).toMatchObject([
      { payer_id: `relay:${a.relayId}`, payee_id: worker.agentId, net: 0.9025, fee: 0.0475 },
    ]);
  });

  test("the evidence verifies at a middle relay, which received its fee and the amount that it passed on", async () => {
    const { worker, task } = await done(1, c);
    await waitUntil(async () => (await c.getBalance(worker)) > 0, "the worker is paid");
    const { bundle, verdict } = await waitUntil(async () => {
      const shown = await evidenceAt(b, worker.agentId, task.task_id);
      return shown.bundle.settlements.length > 0 && shown;
    }, "it is paid on");
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks).toEqual(passedLevels([...whole, "attested", "settled", "logged"]));
    expect(bundle).toMatchObject({
      peer: { relay_id: c.relayId },
      settlements: [{ payer_id: `relay:${a.relayId}`, amount_settled: 0.95, net: 0.9025 }],
    });
    const credited = bundle.postings.filter(({ type, amount }) => type !== "fee" && amount > 0);
    expect(credited).toMatchObject([{ account: `peer:${c.relayId}`, amount: 0.9025 }]);
  });

  test("E14: a receipt that is too deep for the payer's relay is refused, and the deepest allowed one is paid", async () => {
    const boss = await a.createAgent();
    await a.deposit(boss, 10);
    const worker = await b.createWorker(1);
    await submitToBest(a, boss);
    const task = await waitForTask(b, worker);
    const deliver = (levels: number) => {
      const note = JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown;
      const receipt = createReceipt(worker, task, { note } as object);
      return b.as(worker, "POST", `/agent/${task.agent_id}/task/${task.task_id}/result`, receipt);
    };
    expect(await deliver(63)).toMatchObject({ status: 400, body: { code: "receipt.malformed" } });
    expect(await deliver(62)).toMatchObject({ status: 200 });
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    const { verdict } = await evidenceAt(a, boss.agentId, task.task_id);
    expect(verdict).toMatchObject({ kind: "bundle", valid: true });
  });

  test("the evidence of a free task verifies without a payment", async () => {
    const { boss, task } = await done(0);
    const { verdict } = await evidenceAt(a, boss.agentId, task.task_id);
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks).toEqual(passedLevels([...whole, "attested", "logged"]));
  });
});
