import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { computeMedian, printFigures, type Figure } from "../figures.ts";
import { describeMs, measureStarts, readWholeFile } from "../measure-starts.ts";
import { startRelay } from "../relay-side.ts";
import { measureLogFile } from "./measure-log-file.ts";
import {
  measureIntegration,
  measureLogCpu,
  measureLogRate,
  measureSubmissions,
} from "./measure-log-load.ts";

/** Measures the cost of the transparency log for a relay, and a log of a million entries. */
export async function benchmarkLog(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  let count = 0;
  const createPath = () => join(folder, `${(count += 1)}.db`);
  const figures: Figure[] = [];
  try {
    figures.push(await measureLogCpu());
    figures.push(await measureLogRate(createPath));
    figures.push(await measureIntegration(createPath));
    figures.push(await measureSubmissions(createPath));
    const [full, empty] = [createPath(), createPath()];
    figures.push(...(await measureLogFile(full)));
    figures.push(await measureRestart(full, empty));
  } finally {
    rmSync(folder, { recursive: true });
  }
  printFigures(figures);
}

/** Measures how much later a relay is ready with a log of a million entries than with an empty one. */
async function measureRestart(full: string, empty: string): Promise<Figure> {
  const relay = await startRelay({ AGENT_DB_PATH: empty }, 0);
  await relay.close();
  const times = await measureStarts(full, empty, readWholeFile);
  const added = times.full.map((ms, round) => ms - (times.empty[round] ?? Number.NaN));
  console.log(`ms until ready: ${describeMs(times)} (1 M entries / none)`);
  const name = "ms that 1 M entries add to a restart";
  return { name, value: computeMedian(added), floor: 300, bound: "max", rounds: added };
}
