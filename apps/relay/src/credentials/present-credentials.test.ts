import {
  verifyPresentation,
  type VerifiableCredential,
  type VerifiablePresentation,
} from "@agent/credentials";
import { signSuccession } from "@agent/crypto";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  credentialsPath,
  createGradientCredential,
  submitCredentials,
  createReputationCredential,
  createTrustCredential,
} from "../../test/agents/credentials.ts";
import { submitAcceptedTask } from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

const HOUR = 3_600_000;

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  [boss, worker] = [await t.createAgent(), await t.createAgent()];
});
afterEach(() => t.close());

const now = () => t.clock.now();
const ask = (query = "", body?: object): Promise<Reply> =>
  t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/presentation${query}`, body);

const presented = ({ body }: Reply) =>
  (body["presentation"] as VerifiablePresentation).verifiableCredential;

const kindsOf = (credentials: readonly VerifiableCredential[]) =>
  credentials.map(({ issuer, type }) => [issuer === t.did ? "relay" : "other", type[1]]);

async function work(status: "completed" | "failed" = "completed"): Promise<void> {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.asOperator("POST", `${task.path}/result`, createReceipt(worker, task, { status }));
}

const revoke = (by: TestAgent, { id }: VerifiableCredential) =>
  t.as(by, "POST", `/api/v1/agents/${by.agentId}/revoke-credential`, { credential_id: id });

describe("Presentations", () => {
  test("a presentation contains the statements of the relay and of others under the relay's signature", async () => {
    await work();
    await submitCredentials(
      t,
      boss,
      worker,
      createReputationCredential(boss, worker, { now: now() }),
    );
    const answer = await ask();
    expect(answer).toMatchObject({
      status: 200,
      body: { credential_count: 3, relay_did: t.did, presentation: { holder: t.did } },
    });
    expect(verifyPresentation(answer.body["presentation"] as object, { now: now() })).toMatchObject(
      { valid: true },
    );
    expect(kindsOf(presented(answer))).toEqual([
      ["relay", "AgentTrustCredential"],
      ["relay", "AgentReputationCredential"],
      ["other", "AgentReputationCredential"],
    ]);
  });

  test("a presentation is bound to the requested audience and challenge", async () => {
    await work();
    const asked = { audience: "did:key:verifier", challenge: "c-1" };
    const { body } = await ask("", asked);
    const presentation = body["presentation"] as object;
    expect(verifyPresentation(presentation, { now: now(), ...asked })).toMatchObject({
      valid: true,
    });
    expect(
      verifyPresentation(presentation, { now: now(), ...asked, challenge: "c-2" }),
    ).toMatchObject({ code: "presentation.challenge_mismatch" });
  });

  test("a presentation has credentials of one type on request", async () => {
    await work();
    const answer = await ask("?type=AgentReputationCredential");
    expect(kindsOf(presented(answer))).toEqual([["relay", "AgentReputationCredential"]]);
  });

  test("a presentation about another agent is refused", async () => {
    await work();
    const path = `/api/v1/agents/${worker.agentId}/presentation`;
    expect(await t.as(boss, "POST", path)).toMatchObject({ status: 403 });
    expect(await t.asOperator("POST", path)).toMatchObject({ status: 200 });
  });

  test("H28: long credentials of strangers leave a presentation readable, with those of other issuers", async () => {
    await work();
    const issued = createReputationCredential(boss, worker, { now: now() });
    await submitCredentials(t, boss, worker, issued);
    for (let count = 0; count < 40; count += 1) {
      const stranger = await t.createAgent();
      const about = { note: "x".repeat(60_000) };
      const long = createReputationCredential(stranger, worker, {
        now: now(),
        about,
        seed: count + 2,
      });
      expect((await submitCredentials(t, stranger, worker, long)).status).toBe(201);
    }
    const answer = await ask();
    expect(Buffer.byteLength(answer.text)).toBeLessThan(limits.outboundBytes);
    const shown = presented(answer);
    expect(answer.body["credential_count"]).toBe(shown.length);
    expect(kindsOf(shown).slice(0, 2).flat()).not.toContain("other");
    expect(shown.map(({ id }) => id)).toContain(issued.id);
    expect(shown.length).toBeGreaterThan(3);
    expect(verifyPresentation(answer.body["presentation"] as object, { now: now() })).toMatchObject(
      { valid: true },
    );
  });

  test("there is no presentation for an agent without credentials", async () => {
    expect(await ask()).toMatchObject({ status: 404, body: { code: "credential.not_found" } });
  });

  test("a presentation contains only the newest of each issuer's credentials on one matter", async () => {
    for (let i = 0; i < 3; i += 1) await work();
    for (const seed of [1, 2, 3]) {
      await t.clock.advance(1);
      await submitCredentials(
        t,
        boss,
        worker,
        createReputationCredential(boss, worker, { now: now(), seed }),
      );
    }
    const late = createReputationCredential(boss, worker, { now: now() - 1, seed: 4 });
    await submitCredentials(t, boss, worker, late);
    const shown = presented(await ask("?type=AgentReputationCredential"));
    expect(shown.map(({ credentialSubject }) => credentialSubject)).toMatchObject([
      { task_count: 3 },
      { task_count: 1 },
    ]);
    expect(shown[1]!.id).toBe(createReputationCredential(boss, worker, { now: now(), seed: 3 }).id);
  });

  test("a presentation contains the agent's own gradient", async () => {
    await submitCredentials(
      t,
      worker,
      worker,
      createGradientCredential(worker, worker, { now: now() }),
    );
    expect(kindsOf(presented(await ask()))).toEqual([["other", "AgentGradientCredential"]]);
  });
});

describe("Omitted credentials", () => {
  test("a presentation omits an expired credential of another issuer", async () => {
    await submitCredentials(t, boss, worker, createTrustCredential(boss, worker, { now: now() }));
    await t.clock.advance(HOUR);
    expect(await ask()).toMatchObject({ body: { credential_count: 1 } });
    await t.clock.advance(1);
    expect(await ask()).toMatchObject({ status: 404 });
  });

  test("a presentation omits a revoked credential and presents no older one in its place", async () => {
    await work();
    await work();
    const [newest] = presented(await ask("?type=AgentReputationCredential"));
    await revoke(worker, newest!);
    expect(await ask("?type=AgentReputationCredential")).toMatchObject({ status: 404 });
    await t.clock.advance(2 * HOUR);
    expect(await ask("?type=AgentReputationCredential")).toMatchObject({ status: 404 });
    await work();
    expect(await ask("?type=AgentReputationCredential")).toMatchObject({
      body: { credential_count: 1 },
    });
  });
});

describe("Renewal of the relay's own credentials", () => {
  test("the relay renews an expired credential with current figures and stores it", async () => {
    await work();
    const [first] = presented(await ask("?type=AgentReputationCredential"));
    await work("failed");
    await t.clock.advance(HOUR + 1);
    const answer = await ask();
    const shown = presented(answer);
    expect(verifyPresentation(answer.body["presentation"] as object, { now: now() })).toMatchObject(
      { valid: true },
    );
    const renewed = shown.find(({ type }) => type.includes("AgentReputationCredential"))!;
    expect(renewed.id).not.toBe(first!.id);
    expect(renewed.credentialSubject).toMatchObject({ task_count: 2, success_rate: 0.5 });
    expect(shown.find(({ type }) => type.includes("AgentTrustCredential"))).toMatchObject({
      credentialSubject: { trust_level: "first_contact", interaction_count: 2 },
    });
    expect(presented(await ask())).toEqual(shown);
    const status = await t.request("GET", `/api/v1/credentials/${renewed.id!}/status`);
    expect(status.body).toMatchObject({ revoked: false });
  });

  test("the relay renews an expired credential for the agent's current key", async () => {
    await work();
    const next = t.createUnknownAgent();
    await t.request("POST", "/api/v1/agents/bootstrap", {
      body: {
        agent_id: worker.agentId,
        public_key: next.publicKey,
        succession: signSuccession({
          agent_id: worker.agentId,
          oldSecretKey: worker.secretKey,
          newSecretKey: next.secretKey,
          timestamp: now(),
        }),
      },
    });
    await t.clock.advance(HOUR + 1);
    const path = `/api/v1/agents/${worker.agentId}/presentation`;
    const shown = presented(await t.asOperator("POST", path));
    expect(shown.map(({ credentialSubject }) => credentialSubject.id)).toEqual([
      next.did,
      next.did,
    ]);
  });

  test("the relay renews an expired credential once for eight concurrent requests", async () => {
    await work();
    await t.clock.advance(HOUR + 1);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()));
    const ids = answers.flatMap((answer) => presented(answer).map(({ id }) => id));
    expect(new Set(ids).size).toBe(2);
    const { body } = await t.as(worker, "GET", credentialsPath(worker));
    expect(body["credentials"]).toHaveLength(4);
  });
});
