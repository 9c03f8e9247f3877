import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bootstrapAgent, createRelayClient } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningAgent } from "../start-agent.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { startTestAgent } from "../testing/agents/start-agent.ts";

// The command is a separate process, and the machine may be slow.
const main = fileURLToPath(new URL("../../../relay/src/main.ts", import.meta.url));

let folder: string;
let relay: TestRelay;
let firstKey: string;
let running: RunningAgent | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-rotated-"));
  relay = await startAt(0);
  firstKey = await keyOf();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await relay.stop();
  rmSync(folder, { recursive: true });
});

const startAt = (port: number, file = "relay.db") =>
  startTestRelay(port, { AGENT_DB_PATH: join(folder, file) });

async function keyOf(): Promise<string> {
  const info = await relay.operator.relayInfo();
  if (!info.ok) throw new Error(info.message);
  return info.body.public_key;
}

/**
 * Stops the relay, runs `agent-relay rotate-key` as its operator does, and starts it again at the
 * same address.
 */
async function rotate(): Promise<void> {
  const { port } = relay;
  await relay.stop();
  const command = spawn(
    process.execPath,
    ["--conditions=agent-source", main, "rotate-key", "--reason", "yearly"],
    {
      env: {
        AGENT_DB_PATH: join(folder, "relay.db"),
        AGENT_API_TOKEN: "master-token-of-the-test",
        X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
      },
      stdio: "ignore",
    },
  );
  expect(await once(command, "close")).toEqual([0, null]);
  relay = await startAt(port);
}

/** Starts another relay at the address of the first one. */
async function replace(): Promise<void> {
  const { port } = relay;
  await relay.stop();
  relay = await startAt(port, "other.db");
}

async function start(relayKey?: string, identity = createTestIdentity()): Promise<RunningAgent> {
  running = await startTestAgent({
    relayUrl: relay.url,
    identity,
    env: {
      AGENT_AUTH_TOKEN: "secret",
      ...(relayKey !== undefined && { AGENT_SYNC_PUBLIC_KEY: relayKey }),
    },
  });
  return running;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Submits a task to the running agent and returns its status at the relay. */
async function delegate(): Promise<string> {
  const known = await bootstrapAgent({
    baseUrl: relay.url,
    secretKey: generateKeyPair().secretKey,
  });
  if (!known.ok) throw new Error(known.message);
  const boss = createRelayClient({ baseUrl: relay.url, identity: known.identity });
  const agentId = running?.agent.identity.agentId ?? "";
  const params = { agentId };
  const submitted = await boss.submitTask({ params, body: { prompt: 'shout {"text":"hello"}' } });
  if (!submitted.ok) throw new Error(submitted.message);
  const { task_id: taskId } = submitted.body;
  return until(async () => {
    const answer = await boss.getTask({ params: { agentId, taskId }, query: {} });
    if (!answer.ok) throw new Error(answer.message);
    return answer.body.receipt === null ? undefined : answer.body.task.status;
  });
}

const isKnownAtRelay = async () => {
  const agentId = running?.agent.identity.agentId ?? "";
  return (await relay.operator.getAgent({ params: { agentId } })).ok;
};

test.each([["the key that the relay had at first"], [undefined]])(
  "D8: a running agent server keeps working after its relay rotates its key; configured: %s",
  async (named) => {
    const { joined } = await start(named && firstKey);
    expect(await joined).toMatchObject({ ok: true });
    expect(await delegate()).toBe("completed");
    await rotate();
    expect(await keyOf()).not.toBe(firstKey);
    expect(await delegate()).toBe("completed");
  },
);

test("D8: an agent server with a former key of its relay joins after two rotations, and works", async () => {
  await rotate();
  const second = await keyOf();
  await rotate();
  for (const key of [firstKey, second, await keyOf()]) {
    const { joined } = await start(key);
    expect(await joined).toMatchObject({ ok: true });
    expect(await delegate()).toBe("completed");
    await running?.stop();
    running = undefined;
  }
});

test("D8: an agent server with a configured key sends nothing to a relay that cannot prove it", async () => {
  const { joined } = await start("ab".repeat(32));
  expect(await joined).toMatchObject({ ok: false, code: "relay.key_changed" });
  expect(await isKnownAtRelay()).toBe(false);
});

test("D8: a running agent server with a configured key refuses another relay at the same address", async () => {
  const { joined } = await start(firstKey);
  expect(await joined).toMatchObject({ ok: true });
  await replace();
  // By then its socket and heartbeats are refused, and it has tried to join again.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await isKnownAtRelay()).toBe(false);
});
