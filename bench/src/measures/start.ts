import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../child.ts";
import { computeMedian, printFigures } from "../figures.ts";
import { multiplyTasks } from "../multiply-tasks.ts";
import { getRelayEnv, RELAY_SCRIPT, startRelay } from "../relay-side.ts";

const ROUNDS = 7;
const STORED_TASK_COUNT = 1_000_000;

/** Measures the time from the start of a relay's process until it is ready, with many tasks and with none. */
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

interface StartTimes {
  readonly full: number[];
  readonly empty: number[];
}

const describeMs = ({ full, empty }: StartTimes) =>
  `${computeMedian(full).toFixed(0)} / ${computeMedian(empty).toFixed(0)}`;

/** Starts alternate, so that other load of the machine meets both. */
async function measureStarts(
  full: string,
  empty: string,
  prepare: (path: string) => void,
): Promise<StartTimes> {
  const times: StartTimes = { full: [], empty: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.empty.push(await measureStart(empty, prepare));
    times.full.push(await measureStart(full, prepare));
  }
  return times;
}

/** Returns the milliseconds until `/health/ready` answers 200. */
async function measureStart(path: string, prepare: (path: string) => void): Promise<number> {
  prepare(path);
  const began = performance.now();
  const child = await startChild(RELAY_SCRIPT, getRelayEnv({ AGENT_DB_PATH: path }));
  const { status } = await fetch(`${child.url}/health/ready`);
  const took = performance.now() - began;
  await child.stop();
  if (status !== 200) throw new Error(`the relay is not ready: ${status}`);
  return took;
}

/** Creates a database with one finished task, which costs nothing. */
async function createDatabase(path: string): Promise<void> {
  const relay = await startRelay({ AGENT_DB_PATH: path }, 0);
  await relay.delegateOnce();
  await relay.close();
}

/** Asks the system to forget the file's pages (posix_fadvise). A file whose pages are all clean is dropped. */
function dropFromCache(path: string): void {
  const args = [`of=${path}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"];
  run("dd", args);
}

function readWholeFile(path: string): void {
  run("dd", [`if=${path}`, "of=/dev/null", "bs=1M", "status=none"]);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}
