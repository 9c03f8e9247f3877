import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { copyRows } from "./copy-rows.ts";
import { median, printFigures } from "./figures.ts";
import { perSecond } from "./load.ts";
import { startRelay } from "./relay-side.ts";

const rounds = 5;
const seconds = 3;
const stored = 1_000_000;

/** Delegations a second on a file with many finished tasks of the same agents, beside one with none. */
export async function storedTasks(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const path = join(folder, "full.db");
  const full = await startRelay({ AGENT_DB_PATH: path }, 1);
  const empty = await startRelay({ AGENT_DB_PATH: join(folder, "empty.db") }, 1);
  const rates = { full: [] as number[], empty: [] as number[] };
  try {
    await full.once();
    multiplyTasks(path);
    for (const side of [full, empty]) await perSecond(3, side.once);
    for (let round = 0; round < rounds; round += 1) {
      rates.empty.push(await perSecond(seconds, empty.once));
      rates.full.push(await perSecond(seconds, full.once));
    }
  } finally {
    await Promise.all([full.close(), empty.close()]);
    rmSync(folder, { recursive: true });
  }
  printFigures([
    {
      name: `delegations with ${stored} stored tasks / with none`,
      value: median(rates.full) / median(rates.empty),
      floor: 0.9,
      goal: 0.97,
    },
  ]);
}

/** Copies the finished task that is there, from outside of the relay. */
function multiplyTasks(path: string): void {
  const db = new Sqlite(path, { timeout: 10_000 });
  const changed = {
    // Older than whatever comes, as ids are in the order of time.
    task_id: "printf('01000000-0000-7000-8000-%012x', n.value)",
    prompt: "'Summarise the minutes of the meeting.'",
  };
  const finished = db.prepare("select task_id from tasks").pluck().get() as string;
  copyRows(db, [{ table: "tasks", where: `task_id = '${finished}'`, changed }], stored);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
