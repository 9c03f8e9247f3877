import { bootstrapAgent, createRelayClient, delegate } from "@agent/client";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashReceipt } from "@agent/receipts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildReceipt } from "../../execution/build-receipt.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createHangingTool, shoutTool } from "../../testing/tools/test-tools.ts";

const identity = createTestIdentity();
const { agentId, secretKey } = identity;
let folder: string;
let relay: TestRelay;
let running: RunningAgent;
let logged: Record<string, unknown>[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stolen-key-"));
  relay = await startTestRelay();
  logged = [];
  running = await start();
});
afterEach(async () => {
  await running.stop();
  await relay.stop();
  await rm(folder, { recursive: true });
});

const start = () =>
  startJoinedAgent({
    relayUrl: relay.url,
    identity,
    tools: [shoutTool, createHangingTool()],
    env: { AGENT_DATA_DIR: folder, AGENT_MONITOR_INTERVAL_MS: "1000" },
    log: (level, event, fields) => logged.push({ level, event, ...fields }),
  });

const find = (event: string) => logged.filter((line) => line["event"] === event);
const listAlarms = () => logged.filter(({ level }) => level === "error");
const poll = <T>(value: () => T) => expect.poll(value, { timeout: 20_000, interval: 50 });

/** Waits until a quiet round covered every entry that the log has now. */
async function expectQuiet(): Promise<void> {
  const state = await relay.operator.getLogState();
  if (!state.ok) throw new Error(state.message);
  const { size } = state.body;
  await poll(() => find("monitor.quiet").some((line) => (line["size"] as number) >= size)).toBe(
    true,
  );
}

async function work() {
  const done = await delegate(relay.operator, {
    agentId,
    prompt: "hello",
    requiredCapabilities: ["shout"],
    timeoutMs: 10_000,
  });
  if (!done.ok) throw new Error(done.message);
  return done.receipt;
}

test("the agent's own receipts raise no alarm, also in a run that scans the whole log again", async () => {
  const receipt = await work();
  expect(readFileSync(join(folder, "signed.log"), "utf8")).toBe(`${hashReceipt(receipt)}\n`);
  await expectQuiet();
  await running.stop();
  await rm(join(folder, "monitor"), { recursive: true });
  logged = [];
  running = await start();
  await expectQuiet();
  expect(listAlarms()).toEqual([]);
});

test("TL2 a receipt that a stolen key signed outside the agent server raises monitor.unknown_receipt", async () => {
  await work();
  await expectQuiet();
  const submitted = await relay.operator.submitTask({
    params: { agentId },
    body: { prompt: "stolen", required_capabilities: ["hanging"] },
  });
  if (!submitted.ok) throw new Error(submitted.message);
  const thief = await bootstrapAgent({ baseUrl: relay.url, agentId, secretKey });
  if (!thief.ok) throw new Error(thief.message);
  const now = Date.now();
  const receipt = buildReceipt(
    {
      taskId: submitted.body.task_id,
      relayTaskId: submitted.body.task_id,
      prompt: "stolen",
      requiredCapabilities: [],
      submittedAt: now,
      startedAt: now,
    },
    { outcome: { status: "completed", result: "x" }, toolsUsed: [], nested: [], completedAt: now },
    { identity, deviceId: thief.identity.deviceId },
  );
  const client = createRelayClient({ baseUrl: relay.url, identity: thief.identity });
  const params = { agentId, taskId: submitted.body.task_id };
  expect(await client.postResult({ params, body: receipt })).toMatchObject({ ok: true });
  await poll(() => find("monitor.unknown_receipt")).toMatchObject([{ level: "error", count: 1 }]);
});

test("TL3 a key that the operator's token binds to the agent raises monitor.unknown_key", async () => {
  await expectQuiet();
  const { operator } = relay;
  const opened = await operator.initiatePairing({ body: { agent_id: agentId } });
  if (!opened.ok) throw new Error(opened.message);
  const { pairing_id: pairingId, pairing_code } = opened.body;
  const { publicKey: public_key } = createTestIdentity();
  const claim = { pairing_code, device_name: "a phone", public_key };
  expect(await operator.claimPairing({ body: claim })).toMatchObject({ ok: true });
  const approved = await operator.approvePairing({ params: { pairingId }, body: {} });
  expect(approved).toMatchObject({ ok: true });
  await poll(() => find("monitor.unknown_key")).toMatchObject([{ level: "error", count: 1 }]);
});
