import { computeMedian, computePercentile99, type Figure } from "../figures.ts";
import { MANY_IN_FLIGHT, measureRate, WARM_UP_SECONDS } from "../load.ts";
import type { RelaySide } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 4;

/** Half of the paid delegations per second that an engine can sustain. */
interface HalfLoad {
  readonly side: RelaySide;
  readonly rate: number;
  /** The 99th percentile of each round, in ms. */
  readonly delays: number[];
}

/**
 * Compares the duration of a submission on both engines, each at half of its maximum rate. The load is open:
 * delegations begin at fixed times, so a relay that falls behind gets no relief.
 */
export async function measureHalfLoad(file: RelaySide, postgres: RelaySide): Promise<Figure> {
  const loads = [await findHalfLoad(file), await findHalfLoad(postgres)] as const;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const load of round % 2 === 0 ? loads : loads.toReversed()) {
      load.delays.push(computePercentile99(await delegateAtRate(load)));
    }
  }
  for (const [name, { rate, delays }] of [
    ["SQLite file", loads[0]],
    ["PostgreSQL", loads[1]],
  ] as const) {
    const ms = computeMedian(delays).toFixed(0);
    console.log(`${name}: 99th percentile of submissions at ${rate.toFixed(0)} a second: ${ms} ms`);
  }
  const ratios = loads[1].delays.map((delay, round) => delay / (loads[0].delays[round] ?? 0));
  return {
    name: "submission at half of the greatest rate, PostgreSQL / SQLite file",
    value: computeMedian(ratios),
    floor: 4,
    goal: 2,
    bound: "max",
    rounds: ratios,
  };
}

async function findHalfLoad(side: RelaySide): Promise<HalfLoad> {
  await measureRate(WARM_UP_SECONDS, side.delegateOnce, MANY_IN_FLIGHT);
  const greatest = await measureRate(SECONDS, side.delegateOnce, MANY_IN_FLIGHT);
  return { side, rate: greatest / 2, delays: [] };
}

/** Returns the ms from the scheduled time of each submission until its answer. */
async function delegateAtRate({ side, rate }: HalfLoad): Promise<number[]> {
  const delays: number[] = [];
  const running: Promise<unknown>[] = [];
  const began = performance.now();
  const delegate = async (dueAt: number) => {
    const task = await side.submitPaid();
    delays.push(performance.now() - dueAt);
    await side.deliver(task);
  };
  for (let at = 0; at < rate * SECONDS; at += 1) {
    const dueAt = began + (at / rate) * 1_000;
    const early = dueAt - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    running.push(delegate(dueAt));
  }
  await Promise.all(running);
  return delays;
}
