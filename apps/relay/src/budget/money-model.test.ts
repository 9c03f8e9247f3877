import { expect, test, vi } from "vitest";
import { isWholeRun, onlyOn } from "../../test/engine/engine.ts";
import { openMigrated } from "../../test/migrated-storage.ts";
import { runMoneyModel } from "../../test/money-model/run-money-model.ts";
import { migrations } from "../storage/migrations/index.ts";

vi.setConfig({ testTimeout: 600_000 });

/** As many as take seconds on the engine of the run; `pnpm money-model` runs any number. */
const OPERATIONS = onlyOn("sqlite") || isWholeRun ? 20_000 : 1_500;

test("the rows of an engine are those of plain numbers after any movements at once", async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { outcomes } = await runMoneyModel(opened.storage, { seed: 16, operations: OPERATIONS });
  await opened.storage.close();
  // Every rule was met, or the model would prove less than it says.
  expect(Object.keys(outcomes).toSorted()).toEqual([
    "account.overdrawn",
    "budget.insufficient",
    "money.balance_limit",
    "ok",
    "withdrawal.not_found",
    "withdrawal.resolved",
  ]);
});
