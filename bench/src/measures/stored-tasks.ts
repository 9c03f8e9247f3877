import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { computeMedian, printFigures } from "../figures.ts";
import { measureRate, WARM_UP_SECONDS } from "../load.ts";
import { multiplyTasks } from "../multiply-tasks.ts";
import { startRelay } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 3;
const STORED_TASK_COUNT = 1_000_000;

/**
 * Measures delegations per second on a database with many finished tasks of the same agents, and on one
 * without.
 */
export async function benchmarkStoredTasks(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const path = join(folder, "full.db");
  const full = await startRelay({ AGENT_DB_PATH: path }, 1);
  const empty = await startRelay({ AGENT_DB_PATH: join(folder, "empty.db") }, 1);
  const rates = { full: [] as number[], empty: [] as number[] };
  try {
    await full.delegateOnce();
    multiplyTasks(path, STORED_TASK_COUNT);
    for (const side of [full, empty]) await measureRate(WARM_UP_SECONDS, side.delegateOnce);
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.empty.push(await measureRate(SECONDS, empty.delegateOnce));
      rates.full.push(await measureRate(SECONDS, full.delegateOnce));
    }
  } finally {
    await Promise.all([full.close(), empty.close()]);
    rmSync(folder, { recursive: true });
  }
  printFigures([
    {
      name: `delegations with ${STORED_TASK_COUNT} stored tasks / with none`,
      value: computeMedian(rates.full) / computeMedian(rates.empty),
      floor: 0.9,
      goal: 0.97,
    },
  ]);
}
