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
} from "../../test/agents/credentials.ts";
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
const createCredential = (change: object = {}) =>
  createReputationCredential(boss, worker, { now: now(), ...change });
const listStored = async (): Promise<VerifiableCredential[]> => {
  const { body } = await t.asOperator("GET", credentialsPath(worker));
  const rows = (body["credentials"] ?? []) as { credential: VerifiableCredential }[];
  return rows.map(({ credential }) => credential);
};

describe("Accepted credentials", () => {
  test.each([
    ["from its issuer", () => boss],
    ["from the agent itself", () => worker],
  ])("the relay stores a credential %s as it was signed", async (_, who) => {
    const credential = resignCredential(boss, createCredential(), { "x-note": { more: [1, "é"] } });
    expect(await submitCredentials(t, who(), worker, credential)).toMatchObject({
      status: 201,
      body: { agent_id: worker.agentId, credential_ids: [credential.id] },
    });
    expect(await listStored()).toEqual([credential]);
  });

  test("the relay stores a credential from the operator", async () => {
    const body = { credentials: [createCredential()] };
    expect(await t.asOperator("POST", credentialsPath(worker), body)).toMatchObject({
      status: 201,
    });
  });

  test("the relay stores a credential without an id under the hash of its text", async () => {
    const credential = resignCredential(boss, createCredential(), { id: undefined });
    const { body } = await submitCredentials(t, boss, worker, credential);
    const [id] = body["credential_ids"] as string[];
    expect(id).toMatch(/^urn:sha256:[0-9a-f]{64}$/);
    const status = await t.request("GET", `/api/v1/credentials/${id}/status`);
    expect(status.body).toEqual({ credential_id: id, revoked: false });
  });

  test("the relay stores a credential once and answers a repetition with 200", async () => {
    const first = await submitCredentials(t, boss, worker, createCredential());
    expect(await submitCredentials(t, worker, worker, createCredential())).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect(await listStored()).toHaveLength(1);
  });

  test("the relay stores up to 50 credentials of one request", async () => {
    const many = Array.from({ length: limits.submittedCredentials }, (_, seed) =>
      createCredential({ seed }),
    );
    expect(await submitCredentials(t, boss, worker, ...many)).toMatchObject({ status: 201 });
    expect(await listStored()).toEqual(many.toReversed());
    expect(
      await submitCredentials(t, boss, worker, ...many, createCredential({ seed: 99 })),
    ).toMatchObject({
      status: 400,
      body: { code: "request.invalid" },
    });
    expect(await submitCredentials(t, boss, worker)).toMatchObject({ status: 400 });
  });
});

describe("Refused credentials", () => {
  const ids = {
    spaces: "urn:uuid:a b",
    relative: "one",
    long: `urn:uuid:${"a".repeat(limits.idLength)}`,
  };
  const cases: Readonly<Record<string, [status: number, code: string, made: () => object]>> = {
    "refuses a credential that was changed": [
      400,
      "credential.invalid",
      () => ({ ...createCredential(), more: 1 }),
    ],
    "refuses an expired credential": [
      400,
      "credential.invalid",
      () => createReputationCredential(boss, worker, { now: now() - 10, validForMs: 9 }),
    ],
    "refuses an object that is no credential": [400, "credential.invalid", () => ({})],
    "refuses a credential whose id contains blanks": [
      400,
      "credential.invalid",
      () => resignCredential(boss, createCredential(), { id: ids.spaces }),
    ],
    "refuses a credential whose id is no URI": [
      400,
      "credential.invalid",
      () => resignCredential(boss, createCredential(), { id: ids.relative }),
    ],
    "refuses a credential whose id is too long": [
      400,
      "credential.invalid",
      () => resignCredential(boss, createCredential(), { id: ids.long }),
    ],
    "refuses a credential of an unknown type": [
      400,
      "credential.type_unknown",
      () => resignCredential(boss, createCredential(), { type: ["VerifiableCredential"] }),
    ],
    "refuses a credential of two types, one of which may be self-issued": [
      400,
      "credential.type_unknown",
      () => {
        const types = ["AgentReputationCredential", "AgentGradientCredential"];
        const both = { ...createCredential().credentialSubject, ...gradientFigures() };
        return resignCredential(boss, createCredential(), {
          type: ["VerifiableCredential", ...types],
          credentialSubject: both,
        });
      },
    ],
    "refuses a credential about another agent": [
      400,
      "credential.wrong_subject",
      () => createReputationCredential(boss, stranger, { now: now() }),
    ],
    "refuses a self-issued reputation": [
      400,
      "credential.wrong_issuer",
      () => createReputationCredential(worker, worker, { now: now() }),
    ],
    "CR10 refuses a self-issued trust credential": [
      400,
      "credential.wrong_issuer",
      () => createTrustCredential(worker, worker, { now: now() }),
    ],
    "refuses a gradient issued by another agent": [
      400,
      "credential.wrong_issuer",
      () => createGradientCredential(boss, worker, { now: now() }),
    ],
    "refuses a credential larger than 64 KiB": [
      413,
      "credential.too_large",
      () => ({ ...createCredential(), more: "x".repeat(limits.credentialBytes) }),
    ],
  };

  const gradientFigures = () =>
    createGradientCredential(boss, worker, { now: now() }).credentialSubject as Record<
      string,
      unknown
    >;

  test.each(Object.entries(cases))("the relay %s", async (_, [status, code, made]) => {
    const answer = await submitCredentials(
      t,
      worker,
      worker,
      createCredential({ seed: 2 }),
      made(),
    );
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.body["message"]).toContain("credentials.1");
    expect(await listStored()).toEqual([]);
  });

  test("the relay refuses a credential from an agent that the credential does not name", async () => {
    expect(await submitCredentials(t, stranger, worker, createCredential())).toMatchObject({
      status: 403,
      body: { code: "credential.not_participant" },
    });
    expect(await listStored()).toEqual([]);
  });

  test("the relay refuses all credentials of a request when one of them has an id that is already in use", async () => {
    await submitCredentials(t, boss, worker, createCredential({ seed: 1 }));
    const others = [
      createCredential({ seed: 2 }),
      createCredential({ seed: 1, about: { task_count: 7 } }),
    ];
    expect(await submitCredentials(t, boss, worker, ...others)).toMatchObject({
      status: 409,
      body: { code: "credential.id_taken" },
    });
    expect(await listStored()).toEqual([createCredential({ seed: 1 })]);
  });

  test("the relay refuses a credential that was revoked", async () => {
    await submitCredentials(t, boss, worker, createCredential());
    const path = `/api/v1/agents/${boss.agentId}/revoke-credential`;
    await t.as(boss, "POST", path, { credential_id: createCredential().id });
    expect(await submitCredentials(t, worker, worker, createCredential())).toMatchObject({
      status: 400,
      body: { code: "credential.invalid" },
    });
  });
});

test("a credential signed by the agent's former key counts as self-issued", async () => {
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

test("an agent's own gradient is stored", async () => {
  const own = createGradientCredential(worker, worker, { now: now() });
  expect(await submitCredentials(t, worker, worker, own)).toMatchObject({ status: 201 });
  expect(await listStored()).toEqual([own]);
});

test("an agent's earlier gradient is purged when it has expired, unless it was revoked", async () => {
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
  expect(await listStored()).toEqual([newest, valid, revoked]);
});

test("a trust credential is stored beside the reputation", async () => {
  const both = [
    createCredential({ seed: 1 }),
    createTrustCredential(boss, worker, { now: now(), seed: 2 }),
  ];
  expect(await submitCredentials(t, boss, worker, ...both)).toMatchObject({ status: 201 });
  expect(await listStored()).toEqual(both.toReversed());
});
