import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signLogStatement } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { createManualClock, type ManualClock } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { federated } from "../../test/contract/operator/federation.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { askWitness, createModelLog, witnessEnv } from "../../test/agents/witness.ts";

const log = createModelLog(20);
const claimed = new ModelLog(3, { origin: log.keys.origin });
for (let size = 0; size < 5; size += 1) claimed.append(new Uint8Array(90).fill(1));

let folder: string;
let clock: ManualClock;
const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "witness-named-"));
  clock = createManualClock();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

async function start(env: Record<string, string>, seed: number): Promise<TestRelay> {
  const path = join(folder, "relay.db");
  const t = await startTestRelay({ ...federated, AGENT_DB_PATH: path, ...env }, seed, clock);
  closing.push(() => t.close());
  return t;
}

const cosign = async (t: TestRelay, of: ModelLog, old = 0) =>
  (await askWitness(t, `old ${old}\n\n${of.sign([], of.size)}`)).status;

/** Starts a relay of which a peer states a log as its own, and stops it after its first cosignature. */
async function pinStatedLog(stated: ModelLog): Promise<void> {
  const t = await start({}, 1);
  let statement: unknown;
  const listening = await startListeningPeer(({ path }) =>
    path.startsWith("/.well-known") ? { log: statement } : {},
  );
  closing.push(() => listening.close());
  const peer = createFakePeer(t, listening.url);
  const shown = { log: { key: stated.keys.logKey, prefix: null }, witness: null };
  statement = signLogStatement(peer.relayId, shown, peer.secretKey);
  await peer.completeHandshake();
  await t.clock.advance(1_000);
  await t.relay.tick();
  await t.relay.idle();
  expect(await cosign(t, stated)).toBe(200);
  await t.close();
}

test("a log that the operator names gets its name back from a peer that stated it under another key", async () => {
  await pinStatedLog(claimed);
  const t = await start(witnessEnv(log), 2);
  expect(await cosign(t, claimed, claimed.size)).toBe(403);
  expect(await cosign(t, log)).toBe(200);
  expect(await cosign(t, log, log.size)).toBe(200);
});

test("a log that the operator names under the key that a peer stated keeps its size", async () => {
  await pinStatedLog(log);
  const t = await start(witnessEnv(log), 2);
  expect(await cosign(t, log)).toBe(409);
  expect(await cosign(t, log, log.size)).toBe(200);
});
