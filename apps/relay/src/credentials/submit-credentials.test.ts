import type { VerifiableCredential } from "@agent/credentials";
import { signSuccession } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  credentialsPath,
  createGradientCredential,
  submitCredentials,
  createReputationCredential,
  resignCredential,
  createTrustCredential,
} from "../../test/credentials.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let stranger: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker, stranger] = [await t.createAgent(), await t.createAgent(), await t.createAgent()];
});
afterEach(() => t.close());

const now = () => t.clock.now();
const said = (change: object = {}) =>
  createReputationCredential(boss, worker, { now: now(), ...change });
const held = async (): Promise<VerifiableCredential[]> => {
  const { body } = await t.asOperator("GET", credentialsPath(worker));
  const rows = (body["credentials"] ?? []) as { credential: VerifiableCredential }[];
  return rows.map(({ credential }) => credential);
};

describe("a credential about an agent is kept", () => {
  test.each([
    ["from its issuer", () => boss],
    ["from the agent itself", () => worker],
  ])("%s, as it was signed", async (_, who) => {
    const credential = resignCredential(boss, said(), { "x-note": { more: [1, "é"] } });
    expect(await submitCredentials(t, who(), worker, credential)).toMatchObject({
      status: 201,
      body: { agent_id: worker.agentId, credential_ids: [credential.id] },
    });
    expect(await held()).toEqual([credential]);
  });

  test("from the operator", async () => {
    const body = { credentials: [said()] };
    expect(await t.asOperator("POST", credentialsPath(worker), body)).toMatchObject({
      status: 201,
    });
  });

  test("without an id under the hash of its text", async () => {
    const credential = resignCredential(boss, said(), { id: undefined });
    const { body } = await submitCredentials(t, boss, worker, credential);
    const [id] = body["credential_ids"] as string[];
    expect(id).toMatch(/^urn:sha256:[0-9a-f]{64}$/);
    const status = await t.request("GET", `/api/v1/credentials/${id}/status`);
    expect(status.body).toEqual({ credential_id: id, revoked: false });
  });

  test("once: the same again is answered with 200", async () => {
    const first = await submitCredentials(t, boss, worker, said());
    expect(await submitCredentials(t, worker, worker, said())).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect(await held()).toHaveLength(1);
  });

  test("with up to 50 others at once", async () => {
    const many = Array.from({ length: limits.submittedCredentials }, (_, seed) => said({ seed }));
    expect(await submitCredentials(t, boss, worker, ...many)).toMatchObject({ status: 201 });
    expect(await held()).toEqual(many.toReversed());
    expect(await submitCredentials(t, boss, worker, ...many, said({ seed: 99 }))).toMatchObject({
      status: 400,
      body: { code: "request.invalid" },
    });
    expect(await submitCredentials(t, boss, worker)).toMatchObject({ status: 400 });
  });
});

describe("a credential is refused, and so are all that came with it,", () => {
  const ids = {
    spaces: "urn:uuid:a b",
    relative: "one",
    long: `urn:uuid:${"a".repeat(limits.idLength)}`,
  };
  const cases: Readonly<Record<string, [status: number, code: string, made: () => object]>> = {
    "when it is changed": [400, "credential.invalid", () => ({ ...said(), more: 1 })],
    "when it has expired": [
      400,
      "credential.invalid",
      () => createReputationCredential(boss, worker, { now: now() - 10, validForMs: 9 }),
    ],
    "when it is none": [400, "credential.invalid", () => ({})],
    "when its id has blanks": [
      400,
      "credential.invalid",
      () => resignCredential(boss, said(), { id: ids.spaces }),
    ],
    "when its id is no URI": [
      400,
      "credential.invalid",
      () => resignCredential(boss, said(), { id: ids.relative }),
    ],
    "when its id is too long": [
      400,
      "credential.invalid",
      () => resignCredential(boss, said(), { id: ids.long }),
    ],
    "when its type is unknown": [
      400,
      "credential.type_unknown",
      () => resignCredential(boss, said(), { type: ["VerifiableCredential"] }),
    ],
    "when it has two types, of which one may be self-issued": [
      400,
      "credential.type_unknown",
      () => {
        const types = ["AgentReputationCredential", "AgentGradientCredential"];
        const both = { ...said().credentialSubject, ...gradientFigures() };
        return resignCredential(boss, said(), {
          type: ["VerifiableCredential", ...types],
          credentialSubject: both,
        });
      },
    ],
    "when it is about another agent": [
      400,
      "credential.wrong_subject",
      () => createReputationCredential(boss, stranger, { now: now() }),
    ],
    "when it is one's own reputation": [
      400,
      "credential.wrong_issuer",
      () => createReputationCredential(worker, worker, { now: now() }),
    ],
    "CR10 when it is one's own trust in oneself": [
      400,
      "credential.wrong_issuer",
      () => createTrustCredential(worker, worker, { now: now() }),
    ],
    "when it is another's word on one's gradient": [
      400,
      "credential.wrong_issuer",
      () => createGradientCredential(boss, worker, { now: now() }),
    ],
    "when it is larger than 64 KiB": [
      413,
      "credential.too_large",
      () => ({ ...said(), more: "x".repeat(limits.credentialBytes) }),
    ],
  };

  const gradientFigures = () =>
    createGradientCredential(boss, worker, { now: now() }).credentialSubject as Record<
      string,
      unknown
    >;

  test.each(Object.entries(cases))("%s", async (_, [status, code, made]) => {
    const answer = await submitCredentials(t, worker, worker, said({ seed: 2 }), made());
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.body["message"]).toContain("credentials.1");
    expect(await held()).toEqual([]);
  });

  test("when somebody else hands it in", async () => {
    expect(await submitCredentials(t, stranger, worker, said())).toMatchObject({
      status: 403,
      body: { code: "credential.not_participant" },
    });
    expect(await held()).toEqual([]);
  });

  test("when its id is taken, which may show in the middle of storing them", async () => {
    await submitCredentials(t, boss, worker, said({ seed: 1 }));
    const others = [said({ seed: 2 }), said({ seed: 1, about: { task_count: 7 } })];
    expect(await submitCredentials(t, boss, worker, ...others)).toMatchObject({
      status: 409,
      body: { code: "credential.id_taken" },
    });
    expect(await held()).toEqual([said({ seed: 1 })]);
  });

  test("when it was revoked", async () => {
    await submitCredentials(t, boss, worker, said());
    const path = `/api/v1/agents/${boss.agentId}/revoke-credential`;
    await t.as(boss, "POST", path, { credential_id: said().id });
    expect(await submitCredentials(t, worker, worker, said())).toMatchObject({
      status: 400,
      body: { code: "credential.invalid" },
    });
  });
});

test("what a key signed that the agent has left behind is its own word too", async () => {
  const next = t.createUnknownAgent();
  const succession = signSuccession({
    agent_id: worker.agentId,
    oldSecretKey: worker.secretKey,
    newSecretKey: next.secretKey,
    timestamp: now(),
  });
  const body = { agent_id: worker.agentId, public_key: next.publicKey, succession };
  const rotated: Reply = await t.request("POST", "/api/v1/agents/bootstrap", { body });
  expect(rotated).toMatchObject({ status: 200 });
  const own = createReputationCredential(worker, next, { now: now() });
  const agent = { ...worker, secretKey: next.secretKey };
  expect(await submitCredentials(t, agent, worker, own)).toMatchObject({
    body: { code: "credential.wrong_issuer" },
  });
});

test("an agent's own gradient is kept", async () => {
  const own = createGradientCredential(worker, worker, { now: now() });
  expect(await submitCredentials(t, worker, worker, own)).toMatchObject({ status: 201 });
  expect(await held()).toEqual([own]);
});

test("an agent's earlier gradient goes when it has run out, unless it was revoked", async () => {
  const submit = async (seed: number) => {
    const own = createGradientCredential(worker, worker, { now: now(), validForMs: 60_000, seed });
    expect(await submitCredentials(t, worker, worker, own)).toMatchObject({ status: 201 });
    return own;
  };
  const revoked = await submit(1);
  const path = `/api/v1/agents/${worker.agentId}/revoke-credential`;
  const body = { credential_id: revoked.id, reason: "wrong" };
  expect(await t.as(worker, "POST", path, body)).toMatchObject({ status: 200 });
  await submit(2);
  await t.clock.advance(30_000);
  const valid = await submit(3);
  await t.clock.advance(30_001);
  const newest = await submit(4);
  expect(await held()).toEqual([newest, valid, revoked]);
});

test("trust that somebody says it has is kept beside the reputation", async () => {
  const both = [said({ seed: 1 }), createTrustCredential(boss, worker, { now: now(), seed: 2 })];
  expect(await submitCredentials(t, boss, worker, ...both)).toMatchObject({ status: 201 });
  expect(await held()).toEqual(both.toReversed());
});
