import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../child.ts";
import { computeMedian, printFigures, type Figure } from "../figures.ts";
import { createHttpClient, measureRate, WARM_UP_SECONDS } from "../load.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";
import { measureVerifySeconds } from "./verify-cost.ts";

const ROUNDS = 9;
const SECONDS = 3;

/** A load runs this long before it is measured, because it is slower at first when another one ran before. */
const LEAD_IN_SECONDS = 0.5;

/** A small number of clients is the common case, in which fewer tasks share a commit. */
const IN_FLIGHT_COUNTS = [64, 16];

type Work = () => Promise<void>;

interface Sides {
  readonly paid: RelaySide;
  readonly free: RelaySide;
  readonly disk: RelaySide;
  readonly postOnce: Work;
}

/** Measures delegations per second and bare posts per second, in alternation within one run. */
export async function benchmarkDelegations(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bare = await startChild("./bare-server.ts", {});
  const poster = createHttpClient(bare.url);
  const paid = await startRelay({}, 1);
  const free = await startRelay({}, 0);
  const disk = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const body = JSON.stringify({ id: "x", prompt: "x".repeat(1_450) });
  const postOnce = async () => void (await poster.post("/", body));
  try {
    for (const side of [paid, free, disk]) {
      await measureRate(WARM_UP_SECONDS, side.delegateOnce);
    }
    for (const inFlight of IN_FLIGHT_COUNTS) {
      printFigures(await measureSides({ paid, free, disk, postOnce }, inFlight));
    }
  } finally {
    await Promise.all([poster.close(), bare.stop(), paid.close(), free.close(), disk.close()]);
    rmSync(folder, { recursive: true });
  }
}

/** Rates in calls per second, and processor times in seconds. */
interface Round {
  readonly bare: number;
  readonly paid: number;
  readonly free: number;
  readonly disk: number;
  /** The relay's processor time per paid delegation. */
  readonly cpu: number;
  /** The processor time per verification. */
  readonly verify: number;
}

type Measured = keyof Round;

async function measureSides(sides: Sides, inFlight: number): Promise<Figure[]> {
  const rounds: Round[] = [];
  for (let at = 0; at < ROUNDS; at += 1) rounds.push(await measureRound(sides, inFlight, at));
  const median = (measured: Measured) => computeMedian(rounds.map((round) => round[measured]));
  const microseconds = (measured: Measured) => (median(measured) * 1e6).toFixed(0);
  console.log(
    `${inFlight} in flight, a second, median of ${ROUNDS}: bare ${median("bare").toFixed(0)}, paid ${median("paid").toFixed(0)}, ` +
      `free ${median("free").toFixed(0)}, paid on disk ${median("disk").toFixed(0)}; ` +
      `CPU per paid delegation ${microseconds("cpu")} us, per verify ${microseconds("verify")} us`,
  );
  // Both sides of a ratio come from the same round, because the speed of a shared machine changes.
  const compare = (name: string, [upper, lower]: readonly [Measured, Measured]) => {
    const ratios = rounds.map((round) => round[upper] / round[lower]);
    return {
      name: `${name}, ${inFlight} in flight`,
      value: computeMedian(ratios),
      rounds: ratios,
    };
  };
  return [
    {
      ...compare("paid delegations in memory / bare posts", ["paid", "bare"]),
      floor: 0.05,
      goal: 0.08,
    },
    {
      ...compare("free delegations in memory / bare posts", ["free", "bare"]),
      floor: 0.07,
      goal: 0.1,
    },
    { ...compare("paid on disk / paid in memory", ["disk", "paid"]), floor: 0.7, goal: 0.85 },
    {
      ...compare("relay CPU per paid delegation / CPU of one verify", ["cpu", "verify"]),
      floor: 6,
      goal: 3.5,
      bound: "max",
    },
  ];
}

/** Measures all sides one after another, in reverse order in every other round. */
async function measureRound(
  { paid, free, disk, postOnce }: Sides,
  inFlight: number,
  at: number,
): Promise<Round> {
  const round = { bare: 0, paid: 0, free: 0, disk: 0, cpu: 0, verify: 0 };
  const measureSide = async (side: "bare" | "paid" | "free" | "disk", work: Work) => {
    await measureRate(LEAD_IN_SECONDS, work, inFlight);
    const before = paid.child.cpuSeconds();
    round[side] = await measureRate(SECONDS, work, inFlight);
    return (paid.child.cpuSeconds() - before) / (round[side] * SECONDS);
  };
  const steps = [
    () => measureSide("bare", postOnce),
    async () => (round.cpu = await measureSide("paid", paid.delegateOnce)),
    async () => (round.verify = await measureVerifySeconds()),
    () => measureSide("free", free.delegateOnce),
    () => measureSide("disk", disk.delegateOnce),
  ];
  for (const step of at % 2 === 0 ? steps : steps.toReversed()) await step();
  return round;
}
