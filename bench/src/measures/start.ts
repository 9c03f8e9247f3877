import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMs, dropFromCache, measureStarts, readWholeFile } from "../measure-starts.ts";
import { computeMedian, printFigures } from "../figures.ts";
import { multiplyTasks } from "../multiply-tasks.ts";
import { startRelay } from "../relay-side.ts";

const STORED_TASK_COUNT = 1_000_000;

/** Measures the time from a relay's start until it is ready, with many tasks and with none. */
export async function benchmarkStart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const [full, empty] = [join(folder, "full.db"), join(folder, "empty.db")];
  try {
    await createDatabase(full);
    await createDatabase(empty);
    multiplyTasks(full, STORED_TASK_COUNT);
    console.log(`the file has ${Math.round(statSync(full).size / 2 ** 20)} MiB`);
    const uncached = await measureStarts(full, empty, dropFromCache);
    const cached = await measureStarts(full, empty, readWholeFile);
    printFigures([
      {
        name: `start with ${STORED_TASK_COUNT} stored tasks / with none, not cached`,
        value: computeMedian(uncached.full) / computeMedian(uncached.empty),
        floor: 1.5,
        goal: 1.1,
        bound: "max",
      },
      {
        name: `start with ${STORED_TASK_COUNT} stored tasks / with none, cached`,
        value: computeMedian(cached.full) / computeMedian(cached.empty),
        floor: 1.5,
        goal: 1.1,
        bound: "max",
      },
    ]);
    console.log(
      `ms until ready: not cached ${describeMs(uncached)}; cached ${describeMs(cached)} (full / empty)`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Creates a database with one finished free task. */
async function createDatabase(path: string): Promise<void> {
  const relay = await startRelay({ AGENT_DB_PATH: path }, 0);
  await relay.delegateOnce();
  await relay.close();
}
