import { bytesToHex, didKeyToPublicKey } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { scopes, type AuditEntry } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { submitCredentials, createReputationCredential } from "../../test/agents/credentials.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { submitAcceptedTask } from "../../test/market.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let stranger: TestAgent;
let credential_id: string;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  [boss, worker, stranger] = [await t.createAgent(), await t.createAgent(), await t.createAgent()];
  const credential = createReputationCredential(boss, worker, { now: t.clock.now() });
  credential_id = credential.id!;
  await submitCredentials(t, boss, worker, credential);
});
afterEach(() => t.close());

const path = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/revoke-credential`;
const status = (): Promise<Reply> =>
  t.request("GET", `/api/v1/credentials/${encodeURIComponent(credential_id)}/status`);

const untouched = { status: 200, body: { revoked: false } };

describe("Revocation of a credential", () => {
  test.each([
    ["its subject", () => worker],
    ["its issuer", () => boss],
  ])("CR12 %s revokes a credential", async (_, who) => {
    expect((await status()).body).toEqual({ credential_id, revoked: false });
    const revoked = { credential_id, revoked: true, revoked_at: t.clock.now(), reason: "wrong" };
    const answer = await t.as(who(), "POST", path(who()), { credential_id, reason: "wrong" });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual(revoked);
    expect((await status()).body).toEqual(revoked);
  });

  test("CR12 the relay records a revocation once in the subject's audit", async () => {
    for (const who of [boss, boss, worker]) {
      await t.as(who, "POST", path(who), { credential_id });
    }
    const { body } = await t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/audit`);
    const entries = body["entries"] as AuditEntry[];
    expect(entries.filter(({ action }) => action === "credential.revoked")).toMatchObject([
      { actor: boss.agentId, detail: credential_id },
    ]);
  });

  test("CR12 the operator revokes any credential", async () => {
    expect(await t.asOperator("POST", path(stranger), { credential_id })).toMatchObject({
      status: 200,
      body: { revoked: true },
    });
  });

  test("CR12 the relay refuses a revocation by another agent under its own path", async () => {
    expect(await t.as(stranger, "POST", path(stranger), { credential_id })).toMatchObject({
      status: 403,
      body: { code: "credential.not_participant" },
    });
    expect(await status()).toMatchObject(untouched);
  });

  test("CR12 the relay refuses a revocation by another agent under the subject's path", async () => {
    expect(await t.as(stranger, "POST", path(worker), { credential_id })).toMatchObject({
      status: 403,
      body: { code: "auth.not_owner" },
    });
    expect(await status()).toMatchObject(untouched);
  });

  test("CR12 the relay refuses a revocation by the issuer under the subject's path", async () => {
    expect(await t.as(boss, "POST", path(worker), { credential_id })).toMatchObject({
      status: 403,
    });
    expect(await status()).toMatchObject(untouched);
  });
});

describe("D21: a credential cannot be revoked by an agent that only claims its issuer's key", () => {
  /** Pairs a device without any proof that its key is the claimant's. */
  const pairKeyOf = (issuer: TestAgent) => createPairedDevice(t, stranger, scopes, issuer);
  const revoke = (by: TestAgent) => t.as(by, "POST", path(by), { credential_id });
  const refused = { status: 403, body: { code: "credential.not_participant" } };

  test("D21: an agent that paired a device under the key of an issuer from elsewhere is refused", async () => {
    const issuer = t.createUnknownAgent();
    const credential = createReputationCredential(issuer, worker, { now: t.clock.now(), seed: 2 });
    credential_id = credential.id!;
    expect(await submitCredentials(t, worker, worker, credential)).toMatchObject({ status: 201 });
    const device = await pairKeyOf(issuer);
    expect(await revoke(stranger)).toMatchObject(refused);
    expect(await status()).toMatchObject(untouched);

    // Only the holder of the key can use the device, which proves the key.
    expect(await revoke(device)).toMatchObject({ status: 200 });
  });

  test("D21: an agent that paired a device under the relay's key is refused", async () => {
    const relayKey = { publicKey: bytesToHex(didKeyToPublicKey(t.did)) };
    await pairKeyOf({ ...stranger, ...relayKey });
    const task = await submitAcceptedTask(t, boss, worker);
    const done = await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    credential_id = done.body["credential_id"] as string;
    expect(await revoke(stranger)).toMatchObject(refused);
    expect(await status()).toMatchObject(untouched);
  });

  test("D21: an issuer can still revoke what it signed with its former key, or with its device's", async () => {
    const phone = await createPairedDevice(t, boss);
    const credential = createReputationCredential(phone, worker, { now: t.clock.now(), seed: 2 });
    expect(await submitCredentials(t, phone, worker, credential)).toMatchObject({ status: 201 });
    const { next, succession } = createRotation(t, boss);
    await t.as(boss, "POST", `/api/v1/agents/${boss.agentId}/rotate-key`, { succession });
    expect(await revoke(next)).toMatchObject({ status: 200 });
    credential_id = credential.id!;
    expect(await revoke(next)).toMatchObject({ status: 200 });
  });
});

test("CR12 the time and the reason of the first revocation are kept", async () => {
  const first = await t.as(boss, "POST", path(boss), { credential_id, reason: "first" });
  await t.clock.advance(1_000);
  const again = await t.as(worker, "POST", path(worker), { credential_id, reason: "second" });
  expect(again.body).toEqual(first.body);
});

test("CR12 a revocation without a reason is accepted", async () => {
  const answer = await t.as(boss, "POST", path(boss), { credential_id });
  expect(answer.body).toEqual({ credential_id, revoked: true, revoked_at: t.clock.now() });
});
