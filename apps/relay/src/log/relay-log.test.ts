import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { canonicalize, sha256Hex } from "@agent/crypto";
import { ENTRY_KINDS, hashTag, type LogEntry, parseLogEntry } from "@agent/transparency";
import { afterAll, expect, test } from "vitest";
import { readBesideRelay } from "../../test/engine/stored.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { compile, sql } from "../storage/queries/compiled-query.ts";
import { listEntriesAfter } from "./entries/entry-store.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
const createPath = () => join(folder, `${(count += 1)}.db`);

/** Closes the relay and reads every entry of its log. */
async function readEntries(t: TestRelay, path: string): Promise<LogEntry[]> {
  await t.relay.tick();
  await t.close();
  const entries = await readBesideRelay(path, (read) =>
    listEntriesAfter(read, { after: 0, limit: 1_000 }),
  );
  return entries.map((entry) => {
    const parsed = parseLogEntry(entry);
    if (!parsed.ok) throw new Error(parsed.code);
    return parsed.entry;
  });
}

const headCount = compile()(sql<{ count: number }>`select count(*) as count from log_heads`);

async function countHeads(path: string): Promise<number> {
  const row = await readBesideRelay(path, (read) => read.get(headCount, {}));
  return row?.count ?? 0;
}

const tag = (type: "agent" | "key" | "ref", value: string) =>
  Buffer.from(hashTag(type, value)).toString("hex");
const hash = (artifact: object) => sha256Hex(canonicalize(artifact));
const kinds = (entries: readonly LogEntry[]) => entries.map(({ kind }) => kind);

test("the log has the receipt, the settlement and the credential of a paid task once each", async () => {
  const path = createPath();
  const env = { AGENT_DB_PATH: path, AGENT_RELAY_ISSUE_CREDENTIALS: "true" };
  const t = await startTestRelay(env);
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  const receipt = createReceipt(worker, task);
  for (let time = 0; time < 2; time += 1) {
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  }
  const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/settlements`);
  const [{ signature: _, ...settlement }] = body["settlements"] as [Record<string, unknown>];
  const shown = await t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/credentials`);
  const [credential] = shown.body["credentials"] as [{ credential: { id: string } }];
  const entries = await readEntries(t, path);
  const listKind = (kind: string) => entries.filter((entry) => entry.kind === kind);
  expect(listKind("receipt")).toMatchObject([
    {
      agentTag: tag("agent", worker.agentId),
      keyTag: tag("key", worker.publicKey),
      refTag: tag("ref", task.task_id),
      artifactHash: hash(receipt),
    },
  ]);
  expect(listKind("settlement")).toMatchObject([
    {
      agentTag: tag("agent", worker.agentId),
      keyTag: "0".repeat(32),
      refTag: tag("ref", task.task_id),
      artifactHash: hash(settlement),
    },
  ]);
  expect(listKind("credential").map(({ artifactHash }) => artifactHash)).toContain(
    hash(credential.credential),
  );
  expect(kinds(entries).filter((kind) => kind === "key_bound")).toHaveLength(2);
});

test("one head is signed in each round, and entries that arrive meanwhile are covered by the next one", async () => {
  const path = createPath();
  const t = await startTestRelay({ AGENT_DB_PATH: path });
  const log = t.relay.transparencyLog;
  // The first round enters the keys from before the log as well.
  await log.integrate();
  const before = await countHeads(path);
  let waiting = 40;
  const enrolling = Array.from({ length: 4 }, async () => {
    while (waiting-- > 0) await t.createAgent();
  });
  let rounds = 0;
  while (waiting > 0) {
    await log.integrate();
    rounds += 1;
    await setImmediate();
  }
  await Promise.all(enrolling);
  const heads = (await countHeads(path)) - before;
  expect(heads).toBeGreaterThan(0);
  expect(heads).toBeLessThanOrEqual(rounds);
  await Promise.all([log.integrate(), t.createAgent().then(() => log.waitForHead())]);
  const size = await countHeads(path);
  await log.integrate();
  expect(await countHeads(path)).toBe(size);
  await t.close();
});

test("the log has no entries while it is off", async () => {
  const path = createPath();
  const t = await startTestRelay({ AGENT_DB_PATH: path, AGENT_LOG: "false" });
  await t.createAgent();
  expect(await readEntries(t, path)).toEqual([]);
});

test("the keys that were bound while the log was off are entered later, and no key is entered twice", async () => {
  const path = createPath();
  const off = await startTestRelay({ AGENT_DB_PATH: path, AGENT_LOG: "false" });
  const agent = await off.createAgent();
  await off.close();
  for (let start = 0; start < 3; start += 1) {
    // The log is off during the second start, so the third one looks for missing keys again.
    const isOn = String(start !== 1);
    const t = await startTestRelay({ AGENT_DB_PATH: path, AGENT_LOG: isOn }, start + 2);
    const entries = await readEntries(t, path);
    expect(entries).toMatchObject([
      { kindNumber: ENTRY_KINDS.key_bound, keyTag: tag("key", agent.publicKey) },
    ]);
  }
});
