import { spawnSync } from "node:child_process";
import { startChild } from "./child.ts";
import { computeMedian } from "./figures.ts";
import { getRelayEnv, RELAY_SCRIPT } from "./relay-side.ts";

const ROUNDS = 7;

/** The milliseconds until a relay is ready, on a full and on an empty database. */
export interface StartTimes {
  readonly full: number[];
  readonly empty: number[];
}

export const describeMs = ({ full, empty }: StartTimes) =>
  `${computeMedian(full).toFixed(0)} / ${computeMedian(empty).toFixed(0)}`;

/** The starts alternate, so that other load on the machine affects both. */
export async function measureStarts(
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

/** Asks the system to drop the file from its cache (posix_fadvise), which works if all its pages are clean. */
export function dropFromCache(path: string): void {
  const args = [`of=${path}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"];
  run("dd", args);
}

export function readWholeFile(path: string): void {
  run("dd", [`if=${path}`, "of=/dev/null", "bs=1M", "status=none"]);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}
