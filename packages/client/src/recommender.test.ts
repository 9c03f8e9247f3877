import { verifyCredential, type VerifiableCredential } from "@agent/credentials";
import { generateKeyPair, publicKeyToDidKey } from "@agent/crypto";
import type { ReceiptBody } from "@agent/receipts";
import type { DiscoveryEntry, TrustLevel, TrustRecord } from "@agent/wire";
import { describe, expect, test } from "vitest";
import type { ProvenResult } from "./results/check-result.ts";
import { createRecommender } from "./recommender.ts";
import { createRelayClient } from "./relay-client.ts";
import { startLocalServer, type Reply } from "./testing/local-server.ts";

const NOW = 1_760_000_000_000;
const BOSS = "019b7d21-53eb-7ccd-926c-000000000001";
const WORKER = "019b7d21-53eb-7ccd-926c-000000000002";
const didOf = (seed: number) =>
  publicKeyToDidKey(generateKeyPair(new Uint8Array(32).fill(seed)).publicKey);

const record = (change: Partial<TrustRecord> = {}): TrustRecord => ({
  agent_id: BOSS,
  remote_agent_id: WORKER,
  trust_level: "first_contact",
  trust_score: 0.3,
  first_seen_at: NOW - 10,
  last_seen_at: NOW - 1,
  interaction_count: 5,
  successful_tasks: 3,
  failed_tasks: 1,
  avg_latency_ms: 40,
  ...change,
});

const entry: DiscoveryEntry = {
  agent_id: WORKER,
  public_key: "00".repeat(32),
  did: didOf(2),
  endpoint_url: null,
  capabilities: [],
  metadata: {},
  trust_level: "unknown",
  cost: null,
  availability: 0.45,
  online: false,
  freshness: "awake",
  pricing: [],
  source_relay: "r",
  relay_name: "r",
  hop_distance: 0,
};

const proven = (change: Partial<ReceiptBody> = {}) =>
  ({ ok: true, receipt: { agent_id: WORKER, status: "completed", ...change } }) as ProvenResult;

interface Plan {
  /** The trust level of each read of the record; the last one is repeated. */
  readonly levels?: readonly TrustLevel[];
  readonly record?: Partial<TrustRecord>;
  readonly did?: string | null;
  /** Answers to submissions that precede the relay's own. */
  readonly before?: Reply[];
}

/** A delegator at a fake relay with the operations that a recommendation needs; waits end at once. */
async function scene({ levels = ["first_contact"], before = [], ...plan }: Plan = {}) {
  let looks = 0;
  const submitted: VerifiableCredential[] = [];
  const relay = await startLocalServer(({ method, url, body }) => {
    if (url === `/api/v1/agents/${BOSS}/trust/${WORKER}`) {
      const trust_level = levels[Math.min(looks++, levels.length - 1)]!;
      return { status: 200, body: record({ trust_level, ...plan.record }) };
    }
    if (method === "GET") {
      return {
        status: 200,
        body: { ...entry, did: plan.did === undefined ? entry.did : plan.did },
      };
    }
    const instead = before.shift();
    if (instead !== undefined) return instead;
    const { credentials } = JSON.parse(body) as { credentials: VerifiableCredential[] };
    submitted.push(...credentials);
    return { status: 201, body: { agent_id: WORKER, credential_ids: [] } };
  });
  const client = createRelayClient({ ...relay, identity: { masterToken: "operator" } });
  const recommender = createRecommender(client, {
    agentId: BOSS,
    secretKey: new Uint8Array(32).fill(1),
    now: () => NOW,
    schedule(_, task) {
      queueMicrotask(task);
      return () => {};
    },
  });
  const issuedTypes = () => submitted.map(({ type }) => type[1]);
  return {
    recommender,
    submitted,
    issuedTypes,
    received: relay.received,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}

const Reputation = "AgentReputationCredential";
const Trust = "AgentTrustCredential";

describe("createRecommender", () => {
  test("recommend issues the figures of the trust record under the delegator's key and submits them", async () => {
    await using s = await scene();
    const said = await s.recommender.recommend(proven());
    expect(said).toEqual({ ok: true, credentials: s.submitted });
    const [reputation, trust] = s.submitted;
    expect(reputation).toMatchObject({
      type: ["VerifiableCredential", Reputation],
      issuer: didOf(1),
      credentialSubject: {
        id: didOf(2),
        success_rate: 0.75,
        avg_latency_ms: 40,
        task_count: 5,
        trust_score: 0.3,
        availability: 0.45,
        sample_size: 4,
        measured_at: NOW,
      },
    });
    expect(trust).toMatchObject({
      type: ["VerifiableCredential", Trust],
      credentialSubject: {
        id: didOf(2),
        trust_level: "first_contact",
        interaction_count: 5,
        successful_tasks: 3,
        failed_tasks: 1,
        first_seen_at: NOW - 10,
        last_seen_at: NOW - 1,
      },
    });
    for (const credential of s.submitted) {
      expect(verifyCredential(credential, { now: NOW })).toMatchObject({ valid: true });
      expect(credential.id).toMatch(/^urn:uuid:/);
    }
  });

  test("recommend attests trust again only when the level has changed", async () => {
    await using s = await scene({ levels: ["first_contact", "first_contact", "verified"] });
    for (let i = 0; i < 3; i += 1) await s.recommender.recommend(proven());
    expect(s.issuedTypes()).toEqual([Reputation, Trust, Reputation, Reputation, Trust]);
  });

  test.each(["failed", "denied"] as const)(
    "recommend attests only trust after a %s task",
    async (status) => {
      await using s = await scene();
      await s.recommender.recommend(proven({ status }));
      expect(s.issuedTypes()).toEqual([Trust]);
      expect(await s.recommender.recommend(proven({ status }))).toEqual({
        ok: true,
        credentials: [],
      });
    },
  );

  test.each<[string, Plan, Partial<ReceiptBody>]>([
    ["the delegator itself", {}, { agent_id: BOSS }],
    ["an agent without a key", { did: null }, {}],
  ])("recommend issues nothing about %s", async (_, plan, change) => {
    await using s = await scene(plan);
    expect(await s.recommender.recommend(proven(change))).toEqual({ ok: true, credentials: [] });
    expect(s.submitted).toEqual([]);
  });

  test("recommend attests only trust while no task counts", async () => {
    await using s = await scene({ record: { successful_tasks: 0, failed_tasks: 0 } });
    await s.recommender.recommend(proven());
    expect(s.issuedTypes()).toEqual([Trust]);
  });

  test("recommend tries again when the relay is busy", async () => {
    const busy = { status: 503, headers: { "retry-after": "1" }, body: { code: "x", message: "" } };
    await using s = await scene({ before: [busy] });
    expect(await s.recommender.recommend(proven())).toMatchObject({ ok: true });
    expect(s.issuedTypes()).toEqual([Reputation, Trust]);
  });

  test("recommend attests a refused level again the next time", async () => {
    const refused = { status: 404, body: { code: "agent.not_found", message: "" } };
    await using s = await scene({ before: [refused] });
    expect(await s.recommender.recommend(proven())).toMatchObject({ code: "agent.not_found" });
    expect(await s.recommender.recommend(proven())).toMatchObject({ ok: true });
    expect(s.issuedTypes()).toEqual([Reputation, Trust]);
  });
});

test("attest issues a manually set level once", async () => {
  await using s = await scene();
  const blocked = record({ trust_level: "blocked", trust_score: 0 });
  await s.recommender.attest(blocked);
  await s.recommender.attest(blocked);
  expect(s.submitted).toMatchObject([{ credentialSubject: { trust_level: "blocked" } }]);
});
