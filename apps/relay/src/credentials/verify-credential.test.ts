import { readFileSync } from "node:fs";
import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  submitCredentials,
  createReputationCredential,
  resignCredential,
} from "../../test/agents/credentials.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeAll(async () => {
  t = await startTestRelay();
  [boss, worker] = [await t.createAgent(), await t.createAgent()];
});
afterAll(() => t.close());

const verify = (body: unknown): Promise<Reply> =>
  t.request("POST", "/api/v1/credentials/verify", { body });

/** The answer to a refused credential; it names issuer and subject only once the structure is valid. */
const refusedFor = (reason: string) => ({ status: 200, body: { valid: false, reasons: [reason] } });

const createCredential = (seed = 1) =>
  createReputationCredential(boss, worker, { now: t.clock.now(), seed });

describe("Public verification of credentials", () => {
  test("CR1 the relay reports a valid credential with its issuer and subject", async () => {
    expect(await verify(createCredential())).toMatchObject({
      status: 200,
      body: { valid: true, reasons: [], issuer: boss.did, subject: worker.did },
    });
  });

  test("CR1 the relay reports a credential of an unknown type as valid", async () => {
    const type = ["VerifiableCredential", "AlumniCredential"];
    expect(await verify(resignCredential(boss, createCredential(), { type }))).toMatchObject({
      body: { valid: true },
    });
  });

  test.each([
    ["a missing body", () => undefined],
    ["an empty object", () => ({})],
    ["a credential without proof", () => ({ ...createCredential(), proof: undefined })],
    ["a presentation", () => ({ type: ["VerifiablePresentation"], verifiableCredential: [] })],
    [
      "an object with a member __proto__",
      () => JSON.parse('{"__proto__": {"proof": {}}}') as object,
    ],
  ])("CR1 the relay reports %s as invalid, without issuer and subject", async (_, made) => {
    expect(await verify(made())).toMatchObject({
      ...refusedFor("credential.malformed"),
      body: { valid: false, issuer: null, subject: null },
    });
  });

  test.each(["", " "])(
    "CR1 the relay reports the empty body %j as an invalid credential",
    async (raw) => {
      const answer = await t.request("POST", "/api/v1/credentials/verify", { raw });
      expect(answer).toMatchObject(refusedFor("credential.malformed"));
    },
  );

  test.each(["{", "[]", "null", "1", '"text"'])(
    "CR1 the relay refuses %s, which is no JSON object, with 400",
    async (raw) => {
      expect(await t.request("POST", "/api/v1/credentials/verify", { raw })).toMatchObject({
        status: 400,
      });
    },
  );

  test("CR1 the relay accepts a body of 64 KiB and refuses one byte more with 413", async () => {
    const fill = (body: object, bytes: number) => {
      const missing = bytes - JSON.stringify({ ...body, more: "" }).length;
      return { ...body, more: "x".repeat(missing) };
    };
    const signed = resignCredential(boss, createCredential(), { more: "" });
    expect(await verify(fill(signed, limits.credentialBytes))).toMatchObject(
      refusedFor("credential.signature_invalid"),
    );
    expect(await verify(fill(signed, limits.credentialBytes + 1))).toMatchObject({
      status: 413,
      body: { code: "credential.too_large" },
    });
  });
});

describe("Invalid credentials", () => {
  const changedProof = (change: object) => () => {
    const credential = createCredential();
    return { ...credential, proof: { ...credential.proof, ...change } };
  };
  test.each([
    [
      "when its issuer is not the key of its proof",
      "credential.wrong_signer",
      () => resignCredential(boss, createCredential(), { issuer: worker.did }),
    ],
    ["when its suite is another", "credential.suite", changedProof({ cryptosuite: "ecdsa-jcs" })],
    [
      "when its purpose is another",
      "credential.purpose",
      changedProof({ proofPurpose: "authentication" }),
    ],
    [
      "when its proof has another date",
      "credential.signature_invalid",
      changedProof({ created: "2025-01-01T00:00:00Z" }),
    ],
    [
      "when its subject was changed",
      "credential.signature_invalid",
      () => ({ ...createCredential(), credentialSubject: { id: worker.did, task_count: 2 } }),
    ],
    [
      "before validFrom",
      "credential.not_yet_valid",
      () => createReputationCredential(boss, worker, { now: t.clock.now() + 1 }),
    ],
    [
      "after validUntil",
      "credential.expired",
      () =>
        createReputationCredential(boss, worker, { now: t.clock.now() - 2_000, validForMs: 1_999 }),
    ],
    [
      "when its figures do not fit its type",
      "credential.subject_malformed",
      () =>
        resignCredential(boss, createCredential(), {
          credentialSubject: { id: worker.did, success_rate: 2 },
        }),
    ],
  ])("CR2, CR3 the relay reports a credential as invalid %s", async (_, reason, made) => {
    const credential = made();
    expect(await verify(credential)).toMatchObject({
      ...refusedFor(reason),
      body: { issuer: credential.issuer, subject: worker.did },
    });
  });

  test("CR2, CR3 the relay reports a credential as invalid when it was revoked here", async () => {
    const credential = createCredential(9);
    await submitCredentials(t, boss, worker, credential);
    expect(await verify(credential)).toMatchObject({ body: { valid: true } });
    const path = `/api/v1/agents/${worker.agentId}/revoke-credential`;
    await t.as(worker, "POST", path, { credential_id: credential.id });
    expect(await verify(credential)).toMatchObject(refusedFor("credential.revoked"));
  });

  test("CR2, CR3 the relay reports a credential as valid if only another issuer's one with its id was revoked", async () => {
    const credential = createCredential(10);
    const other = await t.createAgent();
    await submitCredentials(
      t,
      other,
      worker,
      createReputationCredential(other, worker, { now: t.clock.now(), seed: 10 }),
    );
    const path = `/api/v1/agents/${other.agentId}/revoke-credential`;
    await t.as(other, "POST", path, { credential_id: credential.id });
    expect(await verify(credential)).toMatchObject({ body: { valid: true } });
  });
});

interface Vector {
  readonly id: number;
  readonly cls: string;
  readonly now: number;
  readonly credential: string;
  readonly expect: "valid" | "invalid";
}

test("every test vector is verified with its recorded result", async () => {
  const file = new URL("../../../../vectors/own/credentials.jsonl", import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const vectors = lines.map((line) => JSON.parse(line) as Vector);
  const wrong: string[] = [];
  for (const vector of vectors.toSorted((a, b) => a.now - b.now)) {
    await t.clock.advance(vector.now - t.clock.now());
    const raw = vector.credential;
    const { status, body } = await t.request("POST", "/api/v1/credentials/verify", { raw });
    const right = status === 200 && body["valid"] === (vector.expect === "valid");
    if (!right) wrong.push(`${vector.id} ${vector.cls}`);
  }
  expect(vectors.length).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});
