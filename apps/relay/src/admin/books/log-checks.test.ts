import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../../test/engine/backup.ts";
import { editStored } from "../../../test/engine/stored.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  submitAcceptedTask,
} from "../../../test/market.ts";
import { DAY_MS, startJumpingRelay } from "../../../test/processes/clock-jump-relay.ts";
import { createReceipt, type TestRelay } from "../../../test/test-relay.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-log-checks-"));
  path = join(folder, "relay.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function settleTask(t: TestRelay): Promise<void> {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  const reply = await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  expect(reply).toMatchObject({ status: 200 });
}

/** Settles a task, sets the clock back by this time, and continues with a backup of then. */
async function restoreAfter(backMs: number) {
  const clock = createManualClock();
  const AGENT_DB_PATH = path;
  const before = await startJumpingRelay({ AGENT_DB_PATH }, { clock });
  await settleTask(before);
  before.setAhead(-backMs);
  await before.advance(1_000);
  await before.asOperator("POST", "/api/v1/admin/clock/accept");
  await before.advance(16_000);
  const backup = join(folder, "backup");
  await backUpStored(path, backup);
  await before.close();
  await restoreStored(path, backup, clock.now() - backMs);
  const t = await startJumpingRelay({ AGENT_DB_PATH }, { clock, seed: 2, ahead: -backMs });
  await t.asOperator("POST", "/api/v1/admin/clock/accept");
  await t.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
  return t;
}

test.each([
  ["was set back by three days", 3 * DAY_MS],
  ["was always right", 0],
])(
  "MN31: a restored relay whose clock %s does not report the settlements of its former log as missing",
  async (_, backMs) => {
    const t = await restoreAfter(backMs);
    await expectConsistentBooks(t);
    await t.close();
  },
);

test("a settlement that the log lacks is reported although the relay was restored before", async () => {
  const t = await restoreAfter(0);
  await t.advance(1_000);
  await settleTask(t);
  await t.close();
  await editStored(path, "DELETE FROM log_entries WHERE idx > 1");
  const again = await startJumpingRelay({ AGENT_DB_PATH: path }, { clock: t.clock, seed: 3 });
  const { body } = await again.asOperator("GET", "/api/v1/admin/reconciliation");
  const failing = (body["checks"] as { code: string; ok: boolean }[]).filter(({ ok }) => !ok);
  expect(failing.map(({ code }) => code)).toEqual(["settlement_unlogged"]);
  await again.close();
});
