import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapAgent } from "@agent/client";
import { bytesToHex, getPublicKey } from "@agent/crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readConfig, type Config } from "../../config/config.ts";
import { parseFlags } from "../../config/parse-flags.ts";
import { loadIdentity } from "../../identity/identity.ts";
import { beginKeyChange } from "../../identity/key-change.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { rotateKey } from "./rotate-key.ts";

const runtime = createSystemRuntime(silentLog);
let relay: TestRelay;
let dataDir: string;
beforeEach(async () => {
  relay = await startTestRelay();
  dataDir = mkdtempSync(join(tmpdir(), "agent-rotation-"));
});
afterEach(async () => {
  await relay.stop();
  rmSync(dataDir, { recursive: true });
});

function configure(env: Record<string, string> = {}): Config {
  const { flags } = parseFlags([]);
  const read = readConfig({
    env: { AGENT_SYNC_URL: relay.url, AGENT_DATA_DIR: dataDir, ...env },
    flags,
    workingDirectory: dataDir,
  });
  if (!read.ok) throw new Error(read.faults.join());
  return read.config;
}

async function load(env: Record<string, string> = {}) {
  const { identity, name, agentType } = configure(env);
  const loaded = await loadIdentity({ ...identity, name, agentType }, runtime);
  if (!loaded.ok) throw new Error(loaded.fault);
  return loaded.identity;
}

/** Makes the agent known to the relay, and stops it. */
async function joinOnce(env: Record<string, string> = {}) {
  const identity = await load(env);
  const running = await startJoinedAgent({ relayUrl: relay.url, identity, tools: [] });
  await running.stop();
  return identity;
}

async function rotate(env: Record<string, string> = {}, reason?: string) {
  const lines: string[] = [];
  const faults = await rotateKey(configure(env), reason, {
    runtime,
    report: (line) => lines.push(line),
  });
  return { faults, lines };
}

async function findCurrentKey(agentId: string) {
  const history = await relay.operator.getSuccession({ params: { agentId } });
  return history.ok ? history.body.current_public_key : history.code;
}

describe("the command rotate-key", { timeout: 30_000 }, () => {
  test.each([{}, { AGENT_PASSPHRASE: "correct horse" }])(
    "rotate-key replaces the key at the relay and in the folder, with the environment %j",
    async (env) => {
      const before = await joinOnce(env);
      const { faults, lines } = await rotate(env, "the key was stolen");
      expect(faults).toEqual([]);
      const after = await load(env);
      expect(lines).toEqual([expect.stringContaining(after.publicKey)]);
      expect([after.agentId, after.publicKey]).not.toContain(before.publicKey);
      expect(after.agentId).toBe(before.agentId);
      expect(await findCurrentKey(before.agentId)).toBe(after.publicKey);
      const running = await startJoinedAgent({ relayUrl: relay.url, identity: after, tools: [] });
      await running.stop();
    },
  );

  test("rotate-key finishes a change that the relay has stored and the folder has not", async () => {
    const before = await joinOnce();
    const begun = await beginKeyChange({ dataDir, passphrase: undefined }, runtime);
    if (!begun.ok) throw new Error(begun.fault);
    const copy = readFileSync(join(dataDir, "identity.key.next"));
    expect((await rotate()).faults).toEqual([]);
    const after = await load();
    expect(after.publicKey).toBe(bytesToHex(getPublicKey(begun.change.newSecretKey)));

    // The process ended after the relay's answer: the old key is in force here, the new one there.
    writeFileSync(join(dataDir, "identity.key.next"), copy);
    writeFileSync(join(dataDir, "identity.key"), bytesToHex(before.secretKey));
    writeFileSync(join(dataDir, "identity.json"), JSON.stringify(before.file));
    await expect(load()).rejects.toThrow(/unfinished key change: run agent-server rotate-key/);
    expect((await rotate()).faults).toEqual([]);
    expect((await load()).publicKey).toBe(after.publicKey);

    // And after the new identity file, before the key's own file.
    writeFileSync(join(dataDir, "identity.key.next"), copy);
    writeFileSync(join(dataDir, "identity.key"), bytesToHex(before.secretKey));
    expect((await rotate()).faults).toEqual([]);
    expect((await load()).publicKey).toBe(after.publicKey);
    expect(await findCurrentKey(before.agentId)).toBe(after.publicKey);
  });

  test("rotate-key keeps the key when the relay refuses or is away, and continues later", async () => {
    const before = await joinOnce();
    const { agentId } = before;
    const away = await rotate({ AGENT_SYNC_URL: "http://127.0.0.1:9" });
    expect(away.faults).toEqual([expect.stringContaining("(network.unreachable)")]);
    expect(await findCurrentKey(agentId)).toBe(before.publicKey);
    expect((await rotate()).faults).toEqual([]);
    const taken = await relay.operator.revokeAgent({ params: { agentId }, body: {} });
    expect(taken.ok).toBe(true);
    expect((await rotate()).faults).toEqual([expect.stringContaining("(agent.revoked)")]);
  });

  test("an agent is known again to a relay that never heard of it, or only of a former key", async () => {
    const before = await joinOnce();
    const [first, second] = [await startTestRelay(), await startTestRelay()];
    const join = async (url: string) => {
      const running = await startJoinedAgent({ relayUrl: url, identity: await load(), tools: [] });
      await running.stop();
    };
    // The first relay is as a backup from before both changes restores it, the second as one from before all.
    await join(first.url);
    for (let change = 1; change <= 2; change += 1) expect((await rotate()).faults).toEqual([]);
    const { agentId, publicKey } = await load();
    expect(publicKey).not.toBe(before.publicKey);
    for (const other of [first, second]) {
      await join(other.url);
      const history = await other.operator.getSuccession({ params: { agentId } });
      expect(history.ok && history.body.current_public_key).toBe(publicKey);
      await other.stop();
    }
  });

  test("rotate-key continues at a restored relay that knows only the key before the last", async () => {
    const { agentId } = await joinOnce();
    const restored = await startTestRelay();
    const early = await startJoinedAgent({
      relayUrl: restored.url,
      identity: await load(),
      tools: [],
    });
    await early.stop();
    expect((await rotate()).faults).toEqual([]);
    expect((await rotate({ AGENT_SYNC_URL: restored.url })).faults).toEqual([]);
    const history = await restored.operator.getSuccession({ params: { agentId } });
    expect(history.ok && history.body.current_public_key).toBe((await load()).publicKey);
    await restored.stop();
  });

  test("D25: rotate-key gives a new key to an agent that lost its key to another agent's proof", async () => {
    const identity = await load();
    const { agentId, publicKey, secretKey } = identity;
    // As an earlier version bound a key: without a proof of it.
    const bound = await fetch(`${relay.url}/api/v1/agents/bootstrap`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent_id: agentId, public_key: publicKey }),
    });
    expect(bound.status).toBe(201);
    const other = "018f5d3a-0000-7000-8000-000000000001";
    const proven = await bootstrapAgent({
      ...runtime,
      baseUrl: relay.url,
      agentId: other,
      secretKey,
    });
    expect(proven.ok).toBe(true);
    const again = await bootstrapAgent({ ...runtime, baseUrl: relay.url, agentId, secretKey });
    expect(again).toMatchObject({ ok: false, code: "agent.key_displaced" });

    expect((await rotate()).faults).toEqual([]);
    const after = await load();
    expect(after.agentId).toBe(agentId);
    expect(await findCurrentKey(agentId)).toBe(after.publicKey);
    expect(await findCurrentKey(other)).toBe(publicKey);
    const running = await startJoinedAgent({ relayUrl: relay.url, identity: after, tools: [] });
    await running.stop();
  });

  test("rotate-key names what is missing", async () => {
    expect((await rotate()).faults).toEqual([expect.stringContaining("holds no identity")]);
    const fixed = await rotate({ AGENT_PRIVATE_KEY_HEX: "ab".repeat(32) });
    expect(fixed.faults).toEqual([expect.stringContaining("AGENT_PRIVATE_KEY_HEX")]);
    await joinOnce({ AGENT_PASSPHRASE: "correct horse" });
    expect((await rotate()).faults).toEqual([expect.stringContaining("AGENT_PASSPHRASE")]);
  });
});
