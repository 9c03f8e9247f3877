import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { computeMedian } from "./figures.ts";
import { runTimes } from "./load.ts";
import { startRelay, type RelaySide } from "./relay-side.ts";

const ROUNDS = 9;

interface Operation {
  readonly name: string;
  readonly price: number;
  readonly onDisk: boolean;
  /** The number of calls in a round, chosen so that a round takes a second or two. */
  readonly count: number;
  readonly run: (side: RelaySide) => Promise<void>;
}

const operations: readonly Operation[] = [
  {
    name: "paid delegation in memory",
    price: 1,
    onDisk: false,
    count: 1_500,
    run: (side) => side.delegateOnce(),
  },
  {
    name: "paid delegation on disk",
    price: 1,
    onDisk: true,
    count: 1_500,
    run: (side) => side.delegateOnce(),
  },
  {
    name: "free delegation in memory",
    price: 0,
    onDisk: false,
    count: 1_500,
    run: (side) => side.delegateOnce(),
  },
  {
    name: "scored submission and cancel",
    price: 1,
    onDisk: false,
    count: 4_000,
    run: (side) => side.submitScored(),
  },
  { name: "balance", price: 1, onDisk: false, count: 40_000, run: (side) => side.readBalance() },
];

/**
 * Compares the relay's processor time per operation in this checkout and in another one. The two run in
 * alternation, so that changes in the machine's speed affect both.
 */
export async function benchmarkBeside(otherFolder: string): Promise<void> {
  // pnpm runs this in the folder of the benchmarks, but the path is relative to the caller's folder.
  const checkout = resolve(process.env["INIT_CWD"] ?? "", otherFolder);
  const main = join(checkout, "apps/relay/src/main.ts");
  if (!existsSync(main)) throw new Error(`no checkout of this project: ${checkout}`);
  const script = pathToFileURL(main).href;
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  console.log(
    `CPU per operation, median of ${ROUNDS} rounds in turn\n` +
      `${"operation".padEnd(32)} ${"this us".padStart(9)} ${"other us".padStart(9)} ${"ratio".padStart(7)}  least..most`,
  );
  try {
    for (const operation of operations) await compare(operation, script, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compare(operation: Operation, other: string, folder: string): Promise<void> {
  const env = (side: string): Record<string, string> =>
    operation.onDisk ? { AGENT_DB_PATH: join(folder, `${side}.db`) } : {};
  const here = await startRelay(env("this"), operation.price);
  const there = await startRelay(env("other"), operation.price, { script: other });
  const cost = async (side: RelaySide) => {
    const before = side.child.cpuSeconds();
    await runTimes(operation.count, () => operation.run(side));
    return ((side.child.cpuSeconds() - before) / operation.count) * 1e6;
  };
  const own: number[] = [];
  const others: number[] = [];
  const ratios: number[] = [];
  try {
    // The first rounds compile the code and are not counted.
    for (let round = -2; round < ROUNDS; round += 1) {
      // Which of the two goes first alternates between rounds.
      const first = round % 2 === 0 ? here : there;
      const costs = new Map<RelaySide, number>();
      for (const side of [first, first === here ? there : here]) costs.set(side, await cost(side));
      const mine = costs.get(here) ?? Number.NaN;
      const theirs = costs.get(there) ?? Number.NaN;
      if (round < 0) continue;
      own.push(mine);
      others.push(theirs);
      ratios.push(mine / theirs);
    }
  } finally {
    await Promise.all([here.close(), there.close()]);
  }
  const cells = [
    computeMedian(own).toFixed(0).padStart(9),
    computeMedian(others).toFixed(0).padStart(9),
  ];
  const spread = `${Math.min(...ratios).toFixed(3)}..${Math.max(...ratios).toFixed(3)}`;
  console.log(
    `${operation.name.padEnd(32)} ${cells.join(" ")} ${computeMedian(ratios).toFixed(3).padStart(7)}  ${spread}`,
  );
}
