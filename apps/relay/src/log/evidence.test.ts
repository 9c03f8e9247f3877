import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseLogEntry, parseVerifierKey } from "@agent/transparency";
import { verifyArtifact } from "@agent/verify";
import { expect, test } from "vitest";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { editStored, readBesideRelay } from "../../test/engine/stored.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { listEntriesAfter } from "./entries/entry-store.ts";

async function trade(t: TestRelay) {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  return { boss, task };
}

async function getLogKey(t: TestRelay) {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  const parsed = parseVerifierKey((body["log"] as { vkey: string }).vkey);
  if (!parsed.ok) throw new Error(parsed.code);
  return parsed.key;
}

test("evidence proves at once that receipt, settlement and credential are in the log", async () => {
  const t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  const { boss, task } = await trade(t);
  const { text, body } = await t.as(boss, "GET", `${task.path}/evidence`);
  expect((body["log"] as { entries: unknown[] }).entries).toHaveLength(4);
  const logKey = await getLogKey(t);
  expect(verifyArtifact(text, { log: { logKey } })).toMatchObject({ kind: "bundle", valid: true });
  await t.close();
});

test("evidence of a relay without a log contains none, and is refused by a reader that requires one", async () => {
  const on = await startTestRelay();
  const logKey = await getLogKey(on);
  await on.close();
  const t = await startTestRelay({ AGENT_LOG: "false" });
  const { boss, task } = await trade(t);
  const { text, body } = await t.as(boss, "GET", `${task.path}/evidence`);
  expect(body).not.toHaveProperty("log");
  expect(verifyArtifact(text)).toMatchObject({ valid: true });
  expect(verifyArtifact(text, { log: { logKey } })).toMatchObject({
    valid: false,
    code: "log.entry_missing",
  });
  await t.close();
});

/** Finds the index of the only settlement in the log, plus 1. */
async function findSettlement(path: string): Promise<number> {
  const entries = await readBesideRelay(path, (read) =>
    listEntriesAfter(read, { after: 0, limit: 1_000 }),
  );
  const isSettlement = entries.map((entry) => {
    const parsed = parseLogEntry(entry);
    return parsed.ok && parsed.entry.kind === "settlement";
  });
  return isSettlement.indexOf(true) + 1;
}

test("a settlement without its log entry makes evidence inconsistent, unless it is older than the log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-log-books-"));
  const path = join(folder, "relay.db");
  const before = await startTestRelay({ AGENT_DB_PATH: path, AGENT_LOG: "false" });
  await trade(before);
  await before.clock.advance(1_000);
  await before.close();
  const on = await startTestRelay({ AGENT_DB_PATH: path }, 2, before.clock);
  const { task } = await trade(on);
  const address = "/api/v1/admin/reconciliation";
  expect(await on.asOperator("GET", address)).toMatchObject({ body: { consistent: true } });
  await on.close();
  await editStored(path, "DELETE FROM log_entries WHERE idx = ?", [await findSettlement(path)]);
  const edited = await startTestRelay({ AGENT_DB_PATH: path }, 3, before.clock);
  const { body } = await edited.asOperator("GET", address);
  const checks = body["checks"] as { name: string; ok: boolean; ids: string[] }[];
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { name: "each settlement is in the transparency log", ids: [task.task_id] },
  ]);
  await edited.close();
  rmSync(folder, { recursive: true });
});
