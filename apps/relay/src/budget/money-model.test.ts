import { expect, test, vi } from "vitest";
import { isWholeRun, onlyOn } from "../../test/engine/engine.ts";
import { openBeside, openMigrated } from "../../test/stored/migrated-storage.ts";
import { runMoneyModel } from "../../test/money-model/run-money-model.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import { migrations } from "../storage/migrations/index.ts";
import type { openStorage } from "../storage/open-storage.ts";
import type { Storage } from "../storage/storage.ts";

vi.setConfig({ testTimeout: 600_000 });

/** As many as take a few seconds on the engine of the run; `pnpm money-model` runs any number. */
const OPERATIONS = onlyOn("sqlite") || isWholeRun ? 20_000 : 1_500;

/** The outcomes of all rules. The model would prove less than it claims if one of them did not occur. */
const OUTCOMES = [
  "account.overdrawn",
  "budget.insufficient",
  "money.balance_limit",
  "ok",
  "withdrawal.not_found",
  "withdrawal.resolved",
  "withdrawal.too_many",
];

async function open(
  openDatabase: typeof openStorage,
  options: Partial<Parameters<typeof openStorage>[0]> = {},
): Promise<Storage> {
  const opened = await openDatabase({ migrations, ...options });
  if (!opened.ok) throw new Error(opened.detail);
  return opened.storage;
}

test("the rows of a database engine match a model of plain numbers after any concurrent movements", async () => {
  const storage = await open(openMigrated);
  const { outcomes } = await runMoneyModel([storage], { seed: 16, operations: OPERATIONS });
  await storage.close();
  expect(Object.keys(outcomes).toSorted()).toEqual(OUTCOMES);
});

test.runIf(onlyOn("postgres"))(
  "the rows of a database match a model of plain numbers after concurrent movements at two processes",
  async () => {
    const shared = systemRuntime;
    const first = await open(openMigrated, { shared });
    const second = await open(openBeside(first), { shared });
    const { outcomes } = await runMoneyModel([first, second], { seed: 17, operations: OPERATIONS });
    await second.close();
    await first.close();
    expect(Object.keys(outcomes).toSorted()).toEqual(OUTCOMES);
  },
);
