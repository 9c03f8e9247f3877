import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { copyRows } from "../copy-rows.ts";
import { computeMedian, printFigures } from "../figures.ts";
import { measureRate } from "../load.ts";
import { startRelay } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 3;
const STORED_TASK_COUNT = 1_000_000;

/**
 * Measures delegations per second on a database with many finished tasks of the same agents and on
 * one without.
 */
export async function benchmarkStoredTasks(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const path = join(folder, "full.db");
  const full = await startRelay({ AGENT_DB_PATH: path }, 1);
  const empty = await startRelay({ AGENT_DB_PATH: join(folder, "empty.db") }, 1);
  const rates = { full: [] as number[], empty: [] as number[] };
  try {
    await full.delegateOnce();
    multiplyTasks(path);
    for (const side of [full, empty]) await measureRate(3, side.delegateOnce);
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

/** Copies the existing finished task from outside the relay. */
function multiplyTasks(path: string): void {
  const db = new Sqlite(path, { timeout: 10_000 });
  const changed = {
    // Older than later tasks, because ids are in the order of time.
    task_id: "printf('01000000-0000-7000-8000-%012x', n.value)",
    prompt: "'Summarise the minutes of the meeting.'",
  };
  const finished = db.prepare("select task_id from tasks").pluck().get() as string;
  copyRows(db, [{ table: "tasks", where: `task_id = '${finished}'`, changed }], STORED_TASK_COUNT);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
