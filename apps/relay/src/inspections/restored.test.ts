import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { beginCase, createParties, getCase, giveVerdict } from "../../test/inspections.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import { startTestRelay } from "../../test/test-relay.ts";

test("IS26: a relay restored from a backup gives the parties time to repeat the statements that were lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-inspections-"));
  const [AGENT_DB_PATH, backup] = [join(folder, "relay.db"), join(folder, "backup.db")];
  let t = await startTestRelay({ AGENT_DB_PATH });
  const given = await beginCase(t, await createParties(t));
  await backUpStored(AGENT_DB_PATH, backup);
  expect((await giveVerdict(t, given, "rejected", { offer: 0.5 })).status).toBe(200);
  await t.clock.advance(86_400_000);
  await t.close();
  await restoreStored(AGENT_DB_PATH, backup, t.clock.now());
  t = await startTestRelay({ AGENT_DB_PATH }, 2, t.clock);
  await t.clock.advance(5_000);
  const freeze = await t.asOperator("GET", "/api/v1/admin/freeze");
  expect(freeze.body).toMatchObject({ frozen: true, restored: true });
  const unfrozen = await t.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
  expect(unfrozen.status).toBe(200);
  await t.relay.tick();
  expect(await getCase(t, given)).toMatchObject({
    state: "inspecting",
    deadline: t.clock.now() + 60_000,
  });
  expect((await giveVerdict(t, given, "rejected", { offer: 0.5 })).status).toBe(200);
  await giveVerdict(t, given, "conceded");
  expect(await getCase(t, given)).toMatchObject({ outcome: { outcome: "conceded", share: 0.5 } });
  await expectConsistentBooks(t, { holds: 0 });
  await t.close();
  rmSync(folder, { recursive: true });
});
