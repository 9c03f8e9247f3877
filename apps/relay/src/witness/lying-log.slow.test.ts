import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMonitor, type MonitorAlarm } from "@agent/client";
import { createToken } from "@agent/testkit";
import { openCheckpoint, parseVerifierKey } from "@agent/transparency";
import { verifyArtifact } from "@agent/verify";
import { afterAll, afterEach, expect, test } from "vitest";
import { createLoadAgents, requestJson, runLoad, type LoadAgents } from "../../test/load.ts";
import { waitUntil } from "../../test/network/network.ts";
import {
  endRelays,
  minimalEnv,
  parseLogLines,
  startRelay,
  type RelayProcess,
} from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

const liar = fileURLToPath(
  new URL("../../test/processes/edited-relay-process.ts", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "lying-log-"));
const AGENT_DB_PATH = join(folder, "relay.db");
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

interface Statement {
  readonly vkey: string;
  readonly witness_vkey: string;
}

async function readStatement(baseUrl: string): Promise<Statement> {
  const { body } = await requestJson(`${baseUrl}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  return body["log"] as unknown as Statement;
}

function parseKey(vkey: string) {
  const parsed = parseVerifierKey(vkey);
  if (!parsed.ok) throw new Error(parsed.code);
  return parsed.key;
}

const isExact = { isExact: true };

/** Starts a relay honestly, ends it, and starts it again as a liar before a witness. */
async function startLiar() {
  const before = startRelay({ ...minimalEnv, AGENT_DB_PATH }, isExact);
  const load = await createLoadAgents(await before.baseUrl);
  const { vkey } = await readStatement(await before.baseUrl);
  before.kill("SIGTERM");
  await before.ended;
  const witness = startRelay({ ...minimalEnv, AGENT_WITNESS_LOGS: vkey }, isExact);
  const witnessUrl = await witness.baseUrl;
  const prefix = `${witnessUrl}/witness/v1`;
  const { witness_vkey } = await readStatement(witnessUrl);
  const asked = { AGENT_LOG_WITNESSES: `${witness_vkey} ${prefix}` };
  const env = { ...minimalEnv, AGENT_DB_PATH, ...asked };
  const relay = startRelay(env, { ...isExact, main: liar });
  const [logKey, witnessKey] = [parseKey(vkey), parseKey(witness_vkey)];
  return { relay, baseUrl: await relay.baseUrl, load, logKey, witnessKey, witnessUrl, prefix };
}

async function fetchEvidence(baseUrl: string, { worker, payer, did, acknowledged }: LoadAgents) {
  const [taskId = ""] = acknowledged.receipts.keys();
  const token = await createToken(payer, did, { now: Date.now, randomBytes });
  const answer = await fetch(`${baseUrl}/agent/${worker.agentId}/task/${taskId}/evidence`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return answer.text();
}

const listOffers = (relay: RelayProcess) =>
  parseLogLines(relay.stdout()).filter(({ msg }) => msg === "liar.offered");

test("TL1 a relay that serves two histories is detected by its witness, by a monitor and by a verifier", async () => {
  const { relay, baseUrl, load, logKey, witnessKey, witnessUrl, prefix } = await startLiar();
  await runLoad(baseUrl, load, ({ receipts }) => receipts.size > 0, 1);
  const bundle = await fetchEvidence(baseUrl, load);
  const { log } = JSON.parse(bundle) as { log: { checkpoint: string } };
  const lie = openCheckpoint(log.checkpoint, { logKey });
  if (!lie.ok) throw new Error(lie.code);
  const offered = await waitUntil(
    () => listOffers(relay).find(({ size }) => Number(size) >= lie.head.size),
    "the lie",
  );
  expect(offered).toMatchObject({ status: 422 });
  expect(JSON.parse(offered["body"] as string)).toMatchObject({ code: "log.equivocation" });

  const state = await requestJson(`${witnessUrl}/api/v1/admin/log`, OPERATOR_TOKEN);
  const evidence = state.body["evidence"] as { code: string; held: string; offered: string }[];
  expect(evidence.length).toBeGreaterThan(0);
  for (const { code, held, offered: other } of evidence) {
    expect(code).toBe("log.equivocation");
    const [left, right] = [openCheckpoint(held, { logKey }), openCheckpoint(other, { logKey })];
    if (!left.ok || !right.ok) throw new Error("a note of the evidence is not the log's");
    expect(left.head.size).toBe(right.head.size);
    expect(left.head.root).not.toEqual(right.head.root);
  }

  const alarms: MonitorAlarm[] = [];
  const monitor = createMonitor({
    prefix: `${baseUrl}/log/v1`,
    logKey,
    witnesses: [{ key: witnessKey, prefix }],
    watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs: [] },
    state: { load: () => Promise.resolve(null), save: () => Promise.resolve() },
    report: (reported) => void alarms.push(...reported),
  });
  expect(await monitor.check()).toMatchObject({ ok: true });
  expect(alarms).toMatchObject([{ code: "monitor.split_view" }]);
  for (const note of alarms[0]!.evidence ?? []) {
    expect(openCheckpoint(note, { logKey })).toMatchObject({ ok: true });
  }

  // The log alone proves the lie; only the witness that the reader named reveals it.
  expect(verifyArtifact(bundle, { log: { logKey } })).toMatchObject({ valid: true });
  const named = { logKey, witnesses: [witnessKey], quorum: 1 };
  expect(verifyArtifact(bundle, { log: named })).toMatchObject({
    valid: false,
    code: "log.quorum_missing",
  });
});
