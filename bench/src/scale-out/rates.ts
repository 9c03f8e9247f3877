import { availableParallelism } from "node:os";
import { computeMedian, type Figure } from "../figures.ts";
import { MANY_IN_FLIGHT, measureRate, WARM_UP_SECONDS } from "../load.ts";
import { readTreeCpuSeconds } from "../process-tree.ts";
import type { RelaySide } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 3;

/** Processes of one relay that are loaded together. */
export interface Group {
  readonly sides: readonly [RelaySide, ...RelaySide[]];
  readonly rates: number[];
  /** Processor time of the processes and of the server per paid delegation, in microseconds. */
  readonly relayCpu: number[];
  readonly serverCpu: number[];
}

export function createGroup(...sides: Group["sides"]): Group {
  return { sides, rates: [], relayCpu: [], serverCpu: [] };
}

export type Groups = Readonly<Record<"one" | "two" | "samePayer", Group>>;

/** Loads the groups in turn, so that other load on the machine affects all of them. */
export async function measureRates(byName: Groups, serverPid: number): Promise<void> {
  const groups = Object.values(byName);
  for (const { sides } of groups) await drive(sides, WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of round % 2 === 0 ? groups : groups.toReversed()) {
      await measureRound(each, serverPid);
    }
  }
}

/** Runs delegations at all processes at once, and returns the total per second. */
async function drive(sides: Group["sides"], seconds: number): Promise<number> {
  const inFlight = MANY_IN_FLIGHT / sides.length;
  const rates = await Promise.all(
    sides.map((side) => measureRate(seconds, side.delegateOnce, inFlight)),
  );
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function measureRound(group: Group, serverPid: number): Promise<void> {
  const { sides } = group;
  const readRelays = () => sides.reduce((sum, { child }) => sum + child.cpuSeconds(), 0);
  const before = { relays: readRelays(), server: readTreeCpuSeconds(serverPid) };
  const rate = await drive(sides, SECONDS);
  const count = rate * SECONDS;
  group.rates.push(rate);
  group.relayCpu.push(((readRelays() - before.relays) / count) * 1e6);
  group.serverCpu.push(((readTreeCpuSeconds(serverPid) - before.server) / count) * 1e6);
}

export function printRates({ one, two, samePayer }: Groups): void {
  const cells = ({ rates, relayCpu, serverCpu }: Group) =>
    [rates, relayCpu, serverCpu].map((values) => computeMedian(values).toFixed(0).padStart(12));
  console.log(
    `median of ${ROUNDS} rounds, ${availableParallelism()} cores`.padEnd(44) +
      ["a second", "relays, us", "server, us"].map((title) => title.padStart(12)).join(""),
  );
  for (const [name, group] of [
    ["one process", one],
    ["two processes", two],
    ["two processes, one payer for all", samePayer],
  ] as const) {
    console.log(name.padEnd(44) + cells(group).join(""));
  }
}

/** The floors of the rates only apply if the processes, the server and the driver have a core each. */
export function listRatios({ one, two, samePayer }: Groups): Figure[] {
  const ratio = (over: readonly number[], under: readonly number[]) => {
    const rounds = over.map((value, at) => value / (under[at] ?? 0));
    return { value: computeMedian(rounds), rounds };
  };
  const hasCores = availableParallelism() >= 4;
  return [
    {
      name: "two processes / one",
      ...ratio(two.rates, one.rates),
      ...(hasCores ? { floor: 1.6, goal: 1.85 } : { floor: 0 }),
    },
    {
      name: "CPU of both relays per delegation / of one",
      ...ratio(two.relayCpu, one.relayCpu),
      floor: 1.25,
      goal: 1.1,
      bound: "max",
    },
    {
      name: "one payer for all / spread payers, two processes",
      ...ratio(samePayer.rates, two.rates),
      floor: 0.6,
      goal: 0.9,
    },
    {
      name: "PostgreSQL CPU per paid delegation at one process, ms",
      value: computeMedian(one.serverCpu) / 1_000,
      floor: 0.45,
      goal: 0.25,
      bound: "max",
    },
  ];
}
