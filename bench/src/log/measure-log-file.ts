import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { computeMedian, type Figure } from "../figures.ts";
import { getRelayEnv } from "../relay-side.ts";

const SCRIPT = fileURLToPath(
  new URL("../../../apps/relay/test/processes/measure-log.ts", import.meta.url),
);

interface Costs {
  readonly appendUs: readonly number[];
  readonly integrateUs: readonly number[];
  readonly proveMs: readonly number[];
  readonly verifyUs: readonly number[];
  readonly bytes: number;
}

/** Fills the log in a file with a million entries and returns the figures of its parts. */
export async function measureLogFile(path: string): Promise<Figure[]> {
  const child = spawn(process.execPath, ["--conditions=agent-source", SCRIPT], {
    env: getRelayEnv({ AGENT_DB_PATH: path }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const output = await text(child.stdout);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the log was not measured: exit code ${code}`);
  const { appendUs, integrateUs, proveMs, verifyUs, bytes } = JSON.parse(output) as Costs;
  return [
    buildFigure("CPU us to append an entry inside an open transaction", appendUs, 6),
    buildFigure("CPU us to integrate an entry", integrateUs, 20, 6),
    buildFigure(
      "CPU ms to find and prove one of the newest 10,000 of 1 M entries",
      proveMs,
      2,
      0.3,
    ),
    buildFigure("CPU us to verify one inclusion at 1 M entries", verifyUs, 150),
    buildFigure("MB of storage per million entries", [bytes / 1e6], 200),
  ];
}

const buildFigure = (
  name: string,
  rounds: readonly number[],
  floor: number,
  goal?: number,
): Figure => ({
  name,
  value: computeMedian(rounds),
  floor,
  ...(goal !== undefined && { goal }),
  bound: "max",
  rounds,
});
