import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalize, sha256Hex, verifyRelaySuccession } from "@agent/crypto";
import { createManualClock, createSeededRandom, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { migrations } from "../storage/migrations/index.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { readAllStored } from "../../test/engine/stored.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { loadRelayIdentity } from "./relay-identity.ts";
import { rotateRelayKey } from "./rotate-relay-key.ts";
import { findIdentity } from "./store.ts";

// A start takes half a second of CPU, and the machine may be busy.
const folder = mkdtempSync(join(tmpdir(), "relay-rotate-"));
const clock = createManualClock();
let path: string;
let count = 0;
beforeEach(() => {
  count += 1;
  path = join(folder, `relay-${count}.db`);
});
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

async function withStorage<T>(work: (storage: Parameters<typeof rotateRelayKey>[0]) => Promise<T>) {
  const opened = await openMigrated({ path, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  try {
    return await work(opened.storage);
  } finally {
    await opened.storage.close();
  }
}

const createWorld = (seed: number) => ({ now: clock.now, ...createSeededRandom(seed) });

function rotate(passphrase?: string, seed = 5) {
  return withStorage((storage) =>
    rotateRelayKey(storage, createWorld(seed), passphrase === undefined ? {} : { passphrase }),
  );
}

async function identity(passphrase?: string) {
  const loaded = await withStorage((storage) =>
    loadRelayIdentity(storage, createWorld(1), passphrase),
  );
  if (!loaded.ok) throw new Error(loaded.detail);
  return loaded.identity;
}

const storedText = () =>
  withStorage(async (storage) => (await findIdentity(storage.read))!.secret_key);

test("D8: a rotation leaves the id unchanged and extends the chain, also within one millisecond", async () => {
  const first = await identity();
  for (const seed of [5, 6]) expect(await rotate(undefined, seed)).toMatchObject({ ok: true });
  const now = await identity();
  expect(now.relayId).toBe(first.relayId);
  expect(now.publicKeys).toHaveLength(3);
  expect(now.publicKeys[0]).toBe(first.publicKey);
  const options = { relayId: first.relayId, firstPublicKey: first.publicKey };
  expect(verifyRelaySuccession(now.succession, options)).toEqual({
    ok: true,
    publicKeys: now.publicKeys,
  });
});

test("D8: a sealed key is rotated only with its passphrase, and the new key is sealed as well", async () => {
  const passphrase = "correct horse battery staple";
  const first = await identity(passphrase);
  const before = await storedText();
  for (const wrong of [undefined, "another one"]) {
    expect(await rotate(wrong)).toMatchObject({ ok: false, code: "identity.unreadable" });
  }
  expect(await storedText()).toBe(before);
  expect(await rotate(passphrase)).toMatchObject({ ok: true, relayId: first.relayId });
  const after = await storedText();
  expect(after).not.toMatch(/^[0-9a-f]+$/);
  expect((await identity(passphrase)).publicKeys[0]).toBe(first.publicKey);
});

test("D8: the database contains no old key after a rotation", async () => {
  await identity();
  const old = await storedText();
  await rotate();
  expect(await readAllStored(path)).toContain("relay_successions");
  expect(await readAllStored(path)).not.toContain(old);
});

test("D8: a database without an identity is left unchanged", async () => {
  await withStorage(async () => {});
  expect(await rotate()).toMatchObject({ ok: false, code: "identity.missing" });
});

test("D8: a rotation beyond 33 keys is refused and changes nothing", async () => {
  await identity();
  for (let made = 1; made < 33; made += 1) await rotate(undefined, 100 + made);
  const full = await identity();
  expect(full.publicKeys).toHaveLength(33);
  expect(await rotate()).toMatchObject({ ok: false, code: "identity.too_many_keys" });
  expect(await identity()).toEqual(full);
});

test.runIf(onlyOn("sqlite"))(
  "D8: the command refuses a running relay and a missing database",
  async () => {
    const env = { ...minimalEnv, AGENT_DB_PATH: path };
    const missing = startRelay(env, { args: ["rotate-key"] });
    expect(await missing.ended).toEqual({ code: 1, signal: null });
    expect(existsSync(path)).toBe(false);

    const relay = startRelay(env);
    const url = await relay.baseUrl;
    const keyOf = async () =>
      ((await (await fetch(`${url}/.well-known/agent-relay.json`)).json()) as { did: string }).did;
    const before = await keyOf();
    const refused = startRelay(env, { args: ["rotate-key"] });
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toContain("database.locked");
    expect(await keyOf()).toBe(before);
    relay.kill("SIGTERM");
    await relay.ended;

    const done = startRelay(env, { args: ["rotate-key", "--reason", "leaked"] });
    expect(await done.ended).toEqual({ code: 0, signal: null });
    const { did, succession } = await identity();
    expect(did).not.toBe(before);
    expect(done.stdout().split("\n")[0]).toContain(`signs with ${did} from its next start`);
    expect(succession).toMatchObject([{ reason: "leaked" }]);
  },
);

test("D8: a crash at any moment of the command leaves either the complete old state or the complete new one", async () => {
  const passphrase = "correct horse battery staple";
  const { publicKey: first } = await identity(passphrase);
  const env = { ...minimalEnv, AGENT_DB_PATH: path, AGENT_RELAY_KEY_PASSPHRASE: passphrase };
  let keys = [first];
  for (const delay of [300, 500, 700, 900, 2_500]) {
    const command = startRelay(env, { args: ["rotate-key"] });
    await Promise.race([command.ended, new Promise((resolve) => setTimeout(resolve, delay))]);
    command.kill("SIGKILL");
    await command.ended;
    const now = await identity(passphrase);
    expect(now.publicKeys.slice(0, keys.length)).toEqual(keys);
    expect(now.publicKeys.length - keys.length).toBeLessThanOrEqual(1);
    keys = [...now.publicKeys];
  }
});

async function finishedTask(t: TestRelay, boss: TestAgent, worker: TestAgent) {
  const task = await submitAcceptedTask(t, boss, worker);
  const done = await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  if (done.status !== 200) throw new Error(JSON.stringify(done.body));
  const settlement = async (at: TestRelay) => {
    const { body } = await at.as(boss, "GET", `/api/v1/agents/${boss.agentId}/settlements`);
    const all = body["settlements"] as Record<string, unknown>[];
    return all.find(({ task_id }) => task_id === task.task_id)!;
  };
  const evidence = async (at: TestRelay) =>
    (await at.as(boss, "GET", `${task.path}/evidence`)).text;
  return { settlement, evidence };
}

test("D8: earlier settlements keep their hash, and all evidence verifies under the chain", async () => {
  const env = { AGENT_DB_PATH: path, AGENT_RELAY_ISSUE_CREDENTIALS: "true" };
  const before = await startTestRelay(env, 1, clock);
  const [boss, worker] = [await createBuyer(before, 10), await createSeller(before, 2)];
  const old = await finishedTask(before, boss, worker);
  const oldEvidence = await old.evidence(before);
  const oldSettlement = await old.settlement(before);
  const oldToken = await before.token(boss);
  const balance = `/api/v1/agents/${boss.agentId}/balance`;
  await before.close();
  const { publicKey: oldKey } = await identity();
  await rotate();
  const { publicKey: newKey, publicKeys, succession } = await identity();

  const after = await startTestRelay(env, 2, clock);
  expect(after.did).not.toBe(before.did);
  expect(await after.request("GET", balance, { token: oldToken })).toMatchObject({ status: 401 });
  expect(await after.as(boss, "GET", balance)).toMatchObject({ status: 200 });
  const document = (await after.request("GET", "/.well-known/agent-relay.json")).body;
  expect(document["succession"]).toEqual(succession);

  const hashOf = (record: Record<string, unknown>) => {
    const unsigned = Object.entries(record).filter(([name]) => name !== "signature");
    return sha256Hex(canonicalize(Object.fromEntries(unsigned)));
  };
  const settlement = await old.settlement(after);
  expect(hashOf(settlement)).toBe(hashOf(oldSettlement));
  expect(settlement["signature"]).not.toBe(oldSettlement["signature"]);
  expect(verifyArtifact(settlement, { relaySuccession: succession })).toMatchObject({
    valid: true,
  });

  await clock.advance(3_601_000);
  const presented = async () => {
    const address = `/api/v1/agents/${worker.agentId}/presentation`;
    const { status, body } = await after.as(worker, "POST", address, {});
    const { verifiableCredential = [] } = (body["presentation"] ?? {}) as {
      verifiableCredential?: { id: string; issuer: string }[];
    };
    return { status, credentials: verifiableCredential };
  };
  const { status, credentials } = await presented();
  expect(status).toBe(200);
  expect(new Set(credentials.map(({ issuer }) => issuer))).toEqual(new Set([after.did]));
  expect((await presented()).credentials).toEqual(credentials);

  const fresh = await finishedTask(after, boss, worker);
  expect((await fresh.settlement(after))["issuer"]).toBe(after.did);
  expect(verifyArtifact(await fresh.settlement(after))).toMatchObject({ valid: true });
  for (const publicKey of publicKeys) {
    for (const task of [old, fresh]) {
      const verdict = verifyArtifact(await task.evidence(after), { publicKey });
      expect(verdict).toMatchObject({ kind: "bundle", valid: true });
    }
  }
  expect(verifyArtifact(oldEvidence, { publicKey: oldKey })).toMatchObject({ valid: true });
  expect(
    verifyArtifact(oldEvidence, { publicKey: newKey, relaySuccession: succession }),
  ).toMatchObject({ valid: true });
  await after.close();
});
