import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hexToBytes, type RelaySuccessionRecord } from "@agent/crypto";
import { createHeartbeat } from "@agent/federation-protocol/peering";
import { signRequest } from "@agent/federation-protocol/signing";
import {
  createManualClock,
  createSeededRandom,
  type ManualClock,
  type TestAgent,
} from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toEnginePlace } from "../../test/engine/database-of-path.ts";
import {
  getReconciliation,
  addPeer,
  claimTask,
  getPeerPositions,
  startSite,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  removePeer,
  type TestSite,
  listPeers,
} from "../../test/network/network.ts";
import { commands } from "../database-commands.ts";
import { findIdentity } from "../identity/store.ts";
import { readBesideRelay } from "../../test/engine/stored.ts";

const names = ["alpha", "beta"] as const;
type Name = (typeof names)[number];

let folder: string;
let clock: ManualClock;
let sites: Record<Name, TestSite>;
let starts = 0;
let boss: TestAgent;
let worker: TestAgent;

const file = (name: Name) => join(folder, `${name}.db`);

async function start(name: Name, port?: number): Promise<TestSite> {
  starts += 1;
  const env = { AGENT_DB_PATH: file(name) };
  return startSite({ name, clock, seed: starts, env, ...(port !== undefined && { port }) });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-keys-"));
  clock = createManualClock();
  sites = { alpha: await start("alpha"), beta: await start("beta") };
  await addPeer(sites.alpha, sites.beta);
  boss = await sites.alpha.createAgent();
  await sites.alpha.deposit(boss, 10);
  worker = await sites.beta.createWorker(1);
});
afterEach(async () => {
  await Promise.all(names.map((name) => sites[name].close()));
  rmSync(folder, { recursive: true });
});

/** Stops a relay, rotates its key by the command, and restarts it at the same port. */
async function rotate(name: Name): Promise<void> {
  const { port } = sites[name];
  await sites[name].stop();
  await clock.advance(2_000);
  const { ok, text } = await commands["rotate-key"]!.run({
    arguments: [],
    status: false,
    ...toEnginePlace(file(name)),
    now: clock.now(),
    randomBytes: createSeededRandom(700 + starts).randomBytes,
  });
  if (!ok) throw new Error(text);
  sites[name] = await start(name, port);
}

const identityOf = async (site: TestSite) =>
  (await site.request("GET", "/federation/v1/identity")).body as {
    agent_id: string;
    public_key: string;
    succession: RelaySuccessionRecord[];
  };

async function onRecord(at: TestSite, of: TestSite) {
  return (await listPeers(at)).find(({ relay_id }) => relay_id === of.relayId);
}

const keyOnRecord = async (at: TestSite, of: TestSite) => (await onRecord(at, of))?.public_key;

const stateOnRecord = async (at: TestSite, of: TestSite) => (await onRecord(at, of))?.state;

/** Lets heartbeats of a relay go unanswered until it has removed its peer. */
async function missHeartbeats(site: TestSite, peered: TestSite): Promise<void> {
  for (let missed = 0; missed < 8; missed += 1) {
    await clock.advance(60_000);
    await site.relay.tick();
    await site.relay.idle();
  }
  expect(["removed", undefined]).toContain(await stateOnRecord(site, peered));
}

async function identitiesServed(site: TestSite): Promise<number> {
  const { text } = await site.asOperator("GET", "/metrics");
  const lines = text.split("\n").filter((line) => line.includes('operation="relayIdentity"'));
  const count = lines.find((line) => /_count|_total/.test(line));
  return Number(count?.split(" ").at(-1) ?? 0);
}

async function storedSecret(name: Name): Promise<Uint8Array> {
  const row = await readBesideRelay(file(name), (read) => findIdentity(read));
  return hexToBytes(row!.secret_key);
}

/** Sends a heartbeat of beta to alpha, signed by any key. */
function sendHeartbeatWith(secretKey: Uint8Array) {
  const { alpha, beta } = sites;
  const path = "/federation/v1/peer/heartbeat";
  const [relayId, to] = [beta.relayId, alpha.relayId];
  const timestamp = clock.now() + 1_000;
  const body = createHeartbeat({ relay_id: relayId, timestamp, agent_count: 0, to }, secretKey);
  const headers = signRequest(
    { method: "POST", path, to, body },
    { relayId, secretKey, now: clock.now() },
  );
  return alpha.request("POST", path, { body, headers });
}

async function submit(): Promise<string> {
  const { status, body } = await submitToBest(sites.alpha, boss);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return String(body["task_id"]);
}

async function finish(taskId: string): Promise<void> {
  const done = await completeTask(
    sites.beta,
    worker,
    await waitForTask(sites.beta, worker, taskId),
  );
  if (done.status !== 200) throw new Error(JSON.stringify(done.body));
}

async function tick(): Promise<void> {
  await clock.advance(60_000);
  await Promise.all(names.map((name) => sites[name].relay.tick()));
}

/**
 * Waits for a condition, with retries of the requests that failed while the relay was restarted. The clock
 * moves only after requests had time to end, because each step of it ends those that are in flight.
 */
async function waitWithRetries(condition: () => Promise<boolean>, what: string): Promise<void> {
  for (let retry = 0; retry < 8; retry += 1) {
    const isTrue = await waitUntil(condition, what, 3_000).catch(() => false);
    if (isTrue) return;
    await tick();
  }
  throw new Error(`${what} did not happen`);
}

const evidenceOf = async (taskId: string) => {
  const path = `/agent/${boss.agentId}/task/${taskId}/evidence`;
  return (await sites.alpha.as(boss, "GET", path)).text;
};

test.each(names)(
  "D8: federated tasks continue after a key succession of %s, without the operator",
  async (name) => {
    const before = await submit();
    await waitForTask(sites.beta, worker, before);
    const { public_key: oldKey } = await identityOf(sites[name]);
    await rotate(name);
    const { alpha, beta } = sites;
    const now = await identityOf(sites[name]);
    expect(now).toMatchObject({ agent_id: sites[name].relayId });
    expect(now.public_key).not.toBe(oldKey);
    expect(now.succession).toMatchObject([
      { relay_id: sites[name].relayId, old_public_key: oldKey },
    ]);

    await finish(before);
    await waitWithRetries(async () => (await alpha.getBalance(boss)) === 9, "the payer is charged");
    await waitUntil(async () => (await beta.getBalance(worker)) === 0.9025, "the worker is paid");
    await finish(await submit());
    await waitUntil(
      async () => (await beta.getBalance(worker)) === 1.805,
      "the worker is paid again",
    );
    await waitUntil(
      async () => (await getPeerPositions(alpha))[beta.relayId] === 1.9,
      "both are owed",
    );
    for (const site of [alpha, beta]) {
      expect(await getReconciliation(site)).toMatchObject({ consistent: true });
    }
    const other = name === "alpha" ? beta : alpha;
    expect(await keyOnRecord(other, sites[name])).toBe(now.public_key);
    expect(other.listLogged("federation.peer.key_changed")).toHaveLength(1);
  },
);

test("D8: a request under the old key is refused after the succession and changes nothing", async () => {
  const old = await storedSecret("beta");
  await rotate("beta");
  const { alpha, beta } = sites;
  await tick();
  const { public_key: newKey } = await identityOf(beta);
  await waitUntil(async () => (await keyOnRecord(alpha, beta)) === newKey, "the key moves on");
  await clock.advance(2_000);
  expect(await sendHeartbeatWith(old)).toMatchObject({
    status: 403,
    body: { code: "federation.signature_invalid" },
  });
  expect(await keyOnRecord(alpha, beta)).toBe(newKey);
  expect(await sendHeartbeatWith(await storedSecret("beta"))).toMatchObject({ status: 200 });
});

test("D8: a wrong signature changes no key, and causes at most one lookup a second", async () => {
  const { alpha, beta } = sites;
  const { public_key: key } = await identityOf(beta);
  const before = await identitiesServed(beta);
  const stranger = createSeededRandom(99).randomBytes(32);
  for (let tried = 0; tried < 5; tried += 1) {
    expect(await sendHeartbeatWith(stranger)).toMatchObject({ status: 403 });
  }
  expect(await identitiesServed(beta)).toBe(before + 1);
  expect(await keyOnRecord(alpha, beta)).toBe(key);
});

test("D8: a relay that never knew the old key becomes a peer under the new one", async () => {
  await rotate("beta");
  const gamma = await startSite({ name: "gamma", clock, seed: 77 });
  await addPeer(gamma, sites.beta);
  const { public_key: newKey } = await identityOf(sites.beta);
  expect(await keyOnRecord(gamma, sites.beta)).toBe(newKey);
  await gamma.close();
});

test.each(names)(
  "D8: a removed peer returns under its new key when %s starts the handshake",
  async (asking) => {
    const { alpha } = sites;
    const { port } = sites.beta;
    await sites.beta.stop();
    await missHeartbeats(alpha, sites.beta);
    sites.beta = await start("beta", port);
    await rotate("beta");
    const { beta } = sites;
    // Alpha has removed beta, and refuses beta's heartbeats until beta has removed alpha as well.
    await missHeartbeats(beta, alpha);
    await (asking === "alpha" ? addPeer(alpha, beta) : addPeer(beta, alpha));
    const { public_key: newKey } = await identityOf(beta);
    expect(await keyOnRecord(alpha, beta)).toBe(newKey);
    expect(await stateOnRecord(alpha, beta)).toBe("active");
    await finish(await submit());
  },
);

describe("FE35: a removed peer that has replaced its key", () => {
  test.each(names)(
    "FE35: work that was begun is paid after a removal, although %s has replaced its key since",
    async (name) => {
      const taskId = await submit();
      const begun = await waitForTask(sites.beta, worker, taskId);
      await claimTask(sites.beta, worker, `/agent/${worker.agentId}/task/${taskId}`);
      await removePeer(sites.alpha, sites.beta);
      await rotate(name);
      const { alpha, beta } = sites;
      expect(await completeTask(beta, worker, begun)).toMatchObject({ status: 200 });
      await waitWithRetries(async () => (await alpha.getBalance(boss)) === 9, "the charge");
      await waitWithRetries(async () => (await beta.getBalance(worker)) === 0.9025, "the payment");
      for (const site of [alpha, beta]) {
        expect(await getReconciliation(site)).toMatchObject({ consistent: true });
        expect(await listPeers(site)).toMatchObject([{ state: "removed" }]);
      }
    },
  );

  test("FE35: a removed peer is not asked for a new key once nothing is under way with it", async () => {
    const { alpha, beta } = sites;
    await finish(await submit());
    await waitUntil(async () => (await beta.getBalance(worker)) === 0.9025, "the payment");
    await removePeer(alpha, beta);
    const { public_key: key } = await identityOf(beta);
    const before = await identitiesServed(beta);
    const path = `/federation/v1/settlements?task_id=${beta.relayId}`;
    const secretKey = createSeededRandom(98).randomBytes(32);
    const headers = signRequest(
      { method: "GET", path, to: alpha.relayId },
      { relayId: beta.relayId, secretKey, now: clock.now() },
    );
    expect(await alpha.request("GET", path, { headers })).toMatchObject({
      status: 403,
      body: { code: "federation.signature_invalid" },
    });
    expect(await identitiesServed(beta)).toBe(before);
    expect(await keyOnRecord(alpha, beta)).toBe(key);
  });
});

test("D8: evidence of a task that was completed before the peer's key succession stays valid", async () => {
  const taskId = await submit();
  await finish(taskId);
  await waitUntil(async () => (await sites.alpha.getBalance(boss)) === 9, "the payer is charged");
  expect(verifyArtifact(await evidenceOf(taskId))).toMatchObject({ valid: true });
  await rotate("beta");
  await tick();
  const { public_key: newKey } = await identityOf(sites.beta);
  await waitUntil(
    async () => (await keyOnRecord(sites.alpha, sites.beta)) === newKey,
    "the key moves",
  );
  expect(verifyArtifact(await evidenceOf(taskId))).toMatchObject({ valid: true });
});
