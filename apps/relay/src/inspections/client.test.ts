import {
  createRecommender,
  createRelayClient,
  delegate,
  type DelegateOptions,
} from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createParties, type Parties } from "../../test/inspections.ts";
import { createSeller } from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

const createClient = (change: (body: Record<string, unknown>) => object = (body) => body) =>
  createRelayClient({
    baseUrl: "http://relay.test",
    identity: parties.boss,
    now: t.clock.now,
    fetch: async (input, init) => {
      const answer = await t.relay.fetch(new Request(input, init));
      if (answer.status !== 201) return answer;
      const body = change((await answer.json()) as Record<string, unknown>);
      return Response.json(body, { status: 201 });
    },
  });

/** Delegates to the worker, which delivers as soon as it has the task. */
async function run(options: Partial<DelegateOptions>, client = createClient()) {
  const { boss, worker } = parties;
  const prompt = "work";
  return delegate(client, {
    agentId: worker.agentId,
    prompt,
    timeoutMs: 60_000,
    now: t.clock.now,
    acceptance: { signer: boss },
    onSubmitted(task_id) {
      const path = `/agent/${worker.agentId}/task/${task_id}`;
      const receipt = createReceipt(worker, { task_id, prompt, submitted_at: t.clock.now() });
      void t.as(worker, "POST", `${path}/result`, receipt);
    },
    ...options,
  });
}

describe("delegate with an inspection", () => {
  test("delegate adds the arbitration fee to the listed price, and pays for an accepted result", async () => {
    const delegated = await run({
      inspect: ({ receipt }) => receipt.status === "completed" || { reason: "no" },
    });
    expect(delegated).toMatchObject({
      ok: true,
      task: { acceptance: { window_ms: 60_000 }, amount_locked: 2.1 },
      inspection: { ok: true, inspection: { state: "closed" } },
    });
    expect(await t.getBalance(parties.boss)).toBe(8);
  });

  test("delegate rejects with a reason and an offer", async () => {
    const delegated = await run({
      acceptance: { signer: parties.boss, windowMs: 60_000, arbiterId: parties.arbiter.agentId },
      inspect: async () => ({ reason: "Rows are missing.", offer: 0.25 }),
    });
    expect(delegated).toMatchObject({
      inspection: {
        inspection: { state: "rejected", verdicts: [{ reason: "Rows are missing.", offer: 0.25 }] },
      },
    });
  });

  test.each<[string, DelegateOptions["inspect"]]>([
    ["throws", () => Promise.reject(new Error("no idea"))],
    ["is missing", undefined],
  ])(
    "delegate stays silent if the inspector %s, so that the executor is paid",
    async (_, inspect) => {
      const delegated = await run(inspect === undefined ? {} : { inspect });
      expect(delegated).toMatchObject({ ok: true });
      expect(delegated).not.toHaveProperty("inspection");
      await t.clock.advance(60_000);
      await t.relay.tick();
      expect(await t.getBalance(parties.boss)).toBe(8);
    },
  );

  const deliver = async (task_id: string, by: TestAgent, change: object) => {
    const path = `/agent/${parties.worker.agentId}/task/${task_id}`;
    const task = { task_id, prompt: "work", submitted_at: t.clock.now() };
    const answer = await t.as(by, "POST", `${path}/result`, createReceipt(by, task, change));
    expect(answer.status).toBe(200);
  };

  test.each<[string, string, object]>([
    ["result", "receipt.result_hash_mismatch", { result_hash: "0".repeat(64) }],
    ["prompt", "receipt.prompt_hash_mismatch", { prompt_hash: "0".repeat(64) }],
  ])(
    "IS32: delegate rejects a result whose receipt is for another %s, without calling the inspector",
    async (_, code, change) => {
      const inspected: unknown[] = [];
      const delegated = await run({
        onSubmitted: (task_id) => void deliver(task_id, parties.worker, change),
        inspect(result) {
          inspected.push(result);
          return true;
        },
      });
      const reason = `The receipt does not prove the work: ${code}`;
      expect(delegated).toMatchObject({
        ok: false,
        code,
        inspection: { ok: true, inspection: { state: "rejected", verdicts: [{ reason }] } },
      });
      expect(inspected).toEqual([]);
      // Without an answer of the executor nothing of the price is paid.
      await t.clock.advance(259_200_000);
      await t.relay.tick();
      expect(await t.getBalance(parties.boss)).toBe(10);
    },
  );

  test("IS32: delegate rejects a result of a device that was revoked immediately after the delivery", async () => {
    const device = await createPairedDevice(t, parties.worker);
    const path = `/api/v1/agents/${device.agentId}/devices/${device.deviceId}`;
    const revoked: number[] = [];
    const client = createRelayClient({
      baseUrl: "http://relay.test",
      identity: parties.boss,
      now: t.clock.now,
      async fetch(input, init) {
        const request = new Request(input, init);
        // The key is read after the receipt.
        if (request.url.endsWith(`/api/v1/devices/${device.deviceId}`)) {
          revoked.push((await t.as(parties.worker, "DELETE", path)).status);
        }
        return t.relay.fetch(request);
      },
    });
    const onSubmitted = (task_id: string) => void deliver(task_id, device, {});
    const options = { onSubmitted, inspect: () => true as const };
    expect(await run(options, client)).toMatchObject({
      ok: false,
      code: "receipt.key_missing",
      inspection: { inspection: { state: "rejected" } },
    });
    expect(revoked).toEqual([200]);
  });

  test("a failed task whose receipt does not prove the work is refunded, so that nothing remains to be rejected", async () => {
    const delegated = await run({
      onSubmitted: (task_id) =>
        void deliver(task_id, parties.worker, { status: "failed", result_hash: "0".repeat(64) }),
      inspect: () => true,
    });
    expect(delegated).toMatchObject({ ok: false, code: "receipt.result_hash_mismatch" });
    expect(delegated).not.toHaveProperty("inspection");
    expect(await t.getBalance(parties.boss)).toBe(10);
  });

  test("delegate stays silent if the inspector does not answer in time", async () => {
    const delegated = await run({
      inspect: () => new Promise(() => {}),
      schedule: (ms, task) => {
        if (ms > 1_000) queueMicrotask(task);
        return () => {};
      },
    });
    expect(delegated).toMatchObject({ ok: true });
    expect(delegated).not.toHaveProperty("inspection");
  });

  test("delegate issues its own credential only after the inspection has closed", async () => {
    const client = createClient();
    const recommender = createRecommender(client, { ...parties.boss, now: t.clock.now });
    const accepted = await run({ recommender, inspect: () => true }, client);
    expect(accepted).toMatchObject({ recommendation: { ok: true } });
    const rejected = await run({ recommender, inspect: () => ({ reason: "no" }) }, client);
    expect(rejected).not.toHaveProperty("recommendation");
  });

  test("delegate cancels the task at a relay that ignores the request for an inspection", async () => {
    const ignoring = createClient((body) => ({ ...body, acceptance: undefined }));
    const delegated = await run({ maxBudget: 3, onSubmitted: () => {} }, ignoring);
    expect(delegated).toMatchObject({ ok: false, code: "acceptance.ignored" });
    expect(await t.getBalance(parties.boss)).toBe(10);
  });

  test("delegate with an inspection is refused by an agent that does not offer it", async () => {
    const seller = await createSeller(t, 2);
    const delegated = await run({ agentId: seller.agentId, inspect: () => true });
    expect(delegated).toMatchObject({ ok: false, code: "acceptance.not_offered" });
  });
});
