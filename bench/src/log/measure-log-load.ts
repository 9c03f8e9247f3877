import { hashReceipt } from "@agent/receipts";
import { computeMedian, computePercentile99, type Figure } from "../figures.ts";
import { measureRate, runTimes, WARM_UP_SECONDS } from "../load.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";

/** Several pairs are needed, because one process may stay a tenth faster than another with the same code. */
const PAIRS = 3;
const ROUNDS_PER_PAIR = 3;
const SECONDS = 3;
const DELEGATIONS = 1_500;

const SAMPLES = 100;
const POLL_MS = 5;

/** Measures the cost of the log for delegations in memory, in the relay's processor time. */
export async function measureLogCpu(): Promise<Figure> {
  const ratios = await compareSides(
    () => [{}, { AGENT_LOG: "false" }],
    async (side) => {
      const before = side.child.cpuSeconds();
      await runTimes(DELEGATIONS, side.delegateOnce);
      return side.child.cpuSeconds() - before;
    },
  );
  const value = computeMedian(ratios);
  const name = "relay CPU per paid delegation, log on / off";
  return { name, value, floor: 1.12, goal: 1.05, bound: "max", rounds: ratios };
}

/** Measures the cost of the log for deliveries on disk. */
export async function measureLogRate(createPath: () => string): Promise<Figure> {
  const ratios = await compareSides(
    () => [{ AGENT_DB_PATH: createPath() }, { AGENT_DB_PATH: createPath(), AGENT_LOG: "false" }],
    (side) => measureRate(SECONDS, side.delegateOnce),
  );
  const name = "paid delegations on disk, log on / off";
  return { name, value: computeMedian(ratios), floor: 0.92, goal: 0.97, rounds: ratios };
}

/** Measures whether the job that signs heads delays submissions. */
export async function measureSubmissions(createPath: () => string): Promise<Figure> {
  const ratios = await compareSides(
    () => [
      { AGENT_DB_PATH: createPath() },
      // Its interval is longer than the measurement, so the job does not run.
      { AGENT_DB_PATH: createPath(), AGENT_LOG_INTERVAL_MS: "60000" },
    ],
    async (side) => {
      const times: number[] = [];
      await measureRate(SECONDS, async () => {
        times.push((await side.delegate()).submitMs);
      });
      return computePercentile99(times);
    },
  );
  const name = "p99 of submissions on disk, with the job / without";
  return { name, value: computeMedian(ratios), floor: 1.1, bound: "max", rounds: ratios };
}

/** Measures the time from an entry's commit until a signed head covers it, while the relay is loaded. */
export async function measureIntegration(createPath: () => string): Promise<Figure> {
  const side = await startRelay({ AGENT_DB_PATH: createPath() }, 1);
  const times: number[] = [];
  try {
    await measureRate(WARM_UP_SECONDS, side.delegateOnce);
    let isSampling = true;
    const sampling = sampleIntegration(side, times).finally(() => {
      isSampling = false;
    });
    const loading = (async () => {
      while (isSampling) await measureRate(1, side.delegateOnce);
    })();
    await Promise.all([sampling, loading]);
  } finally {
    await side.close();
  }
  const name = "ms until an entry is integrated after its commit, p99 under load";
  return {
    name,
    value: computePercentile99(times),
    floor: 1_000,
    goal: 300,
    bound: "max",
    rounds: times,
  };
}

/** Delivers receipts one after another and collects the milliseconds until a head covers each. */
async function sampleIntegration(side: RelaySide, times: number[]): Promise<void> {
  while (times.length < SAMPLES) {
    const { receipt } = await side.delegate();
    const committed = performance.now();
    await waitUntilIntegrated(side, hashReceipt(receipt));
    times.push(performance.now() - committed);
  }
}

async function waitUntilIntegrated({ child }: RelaySide, artifact: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${child.url}/log/v1/proof?artifact=${artifact}`);
    await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 409) throw new Error(`the proof was refused: ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

type SideMeasure = (side: RelaySide) => Promise<number>;

/** Measures pairs of relays and returns the ratio of each round. */
async function compareSides(
  createEnvs: () => readonly [Record<string, string>, Record<string, string>],
  measure: SideMeasure,
): Promise<number[]> {
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [env, otherEnv] = createEnvs();
    const [side, other] = [await startRelay(env, 1), await startRelay(otherEnv, 1)];
    try {
      ratios.push(...(await comparePair(side, other, measure)));
    } finally {
      await Promise.all([side.close(), other.close()]);
    }
  }
  return ratios;
}

/** Measures two relays in alternation; which one goes first alternates between rounds. */
async function comparePair(
  side: RelaySide,
  other: RelaySide,
  measure: SideMeasure,
): Promise<number[]> {
  const ratios: number[] = [];
  for (const each of [side, other]) await measureRate(WARM_UP_SECONDS, each.delegateOnce);
  for (let round = 0; round < ROUNDS_PER_PAIR; round += 1) {
    const values = new Map<RelaySide, number>();
    for (const each of round % 2 === 0 ? [side, other] : [other, side]) {
      values.set(each, await measure(each));
    }
    ratios.push((values.get(side) ?? Number.NaN) / (values.get(other) ?? Number.NaN));
  }
  return ratios;
}
