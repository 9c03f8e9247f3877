import { availableParallelism } from "node:os";
import { connectSocket, createRelayClient } from "@agent/client";
import { createDatabase, startPostgres } from "@agent/test-postgres";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import { computeMedian, computePercentile99, printFigures, type Figure } from "../figures.ts";
import { MANY_IN_FLIGHT, measureRate } from "../load.ts";
import { readTreeCpuSeconds } from "../process-tree.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";

const ROUNDS = 5;
const SECONDS = 3;
const WARM_UP_SECONDS = 4;
const OFFERS = 100;
/** Without notifications each takes up to a second. */
const OFFERS_BY_LOOKS = 20;

/** Processes of one relay, which are driven together. */
interface Group {
  readonly sides: readonly [RelaySide, ...RelaySide[]];
  readonly rates: number[];
  /** CPU of the processes and of the server per paid delegation, in microseconds. */
  readonly relayCpu: number[];
  readonly serverCpu: number[];
}

/**
 * Measures two processes on one PostgreSQL database beside one, taking turns in one run, and how long a task
 * that is stored at one takes to a device at the other.
 */
export async function benchmarkScaleOut(): Promise<void> {
  const server = await startPostgres({ durable: true });
  const opened: RelaySide[] = [];
  const start = async (url: string, env = {}, agents?: RelaySide["agents"]) => {
    const side = await startRelay({ AGENT_DATABASE_URL: url, ...env }, 1, undefined, agents);
    opened.push(side);
    return side;
  };
  const group = (...sides: Group["sides"]): Group => ({
    sides,
    rates: [],
    relayCpu: [],
    serverCpu: [],
  });
  try {
    const database = (name: string) => createDatabase(server.url, name);
    const one = group(await start(await database("one")));
    const spreadUrl = await database("two");
    const two = group(await start(spreadUrl), await start(spreadUrl));
    const sharedUrl = await database("payer");
    const first = await start(sharedUrl);
    const samePayer = group(first, await start(sharedUrl, {}, first.agents));
    const groups = [one, two, samePayer];
    for (const { sides } of groups) await drive(sides, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const each of round % 2 === 0 ? groups : groups.toReversed()) {
        await measureRound(each, server.pid);
      }
    }
    printRates({ one, two, samePayer });
    const notified = await measureOffers(two.sides, OFFERS);
    const env = { AGENT_DATABASE_LISTEN_URL: "off" };
    const quietUrl = await database("looks");
    const looking = [await start(quietUrl, env), await start(quietUrl, env)] as const;
    const looked = await measureOffers(looking, OFFERS_BY_LOOKS);
    printFigures([...listRatios({ one, two, samePayer }), ...listDelays(notified, looked)]);
  } finally {
    await Promise.all(opened.map((side) => side.close()));
    await server.stop();
  }
}

/** Runs delegations at all processes at once and returns their number per second. */
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

/** Submits tasks at the first process, one after another, for a device at the second; ms until each is offered. */
async function measureOffers(sides: readonly RelaySide[], count: number): Promise<number[]> {
  const [submitting, offering] = sides as [RelaySide, RelaySide];
  const { worker } = submitting.agents;
  const ready = Promise.withResolvers<void>();
  let offered = Promise.withResolvers<void>();
  const socket = connectDevice(offering.child.url, worker, (type) => {
    if (type === "ready") ready.resolve();
    if (type === "task_assigned") offered.resolve();
  });
  const delays: number[] = [];
  try {
    await ready.promise;
    for (let at = 0; at < count; at += 1) {
      offered = Promise.withResolvers();
      const began = performance.now();
      await submitting.submitOpenScored();
      await offered.promise;
      delays.push(performance.now() - began);
    }
  } finally {
    socket.close();
  }
  // The first one may come before the first process knows the device.
  return delays.slice(1);
}

function connectDevice(baseUrl: string, agent: TestAgent, onMessage: (type: string) => void) {
  const world = {
    now: Date.now,
    ...createSeededRandom(1),
    schedule(ms: number, task: () => void) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
  };
  const client = createRelayClient({ baseUrl, identity: agent, ...world });
  return connectSocket({
    ...world,
    baseUrl,
    agentId: agent.agentId,
    bearer: () => client.getBearer("socket"),
    onMessage: ({ type }) => onMessage(type),
  });
}

type Groups = Readonly<Record<"one" | "two" | "samePayer", Group>>;

function printRates({ one, two, samePayer }: Groups): void {
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

/** The floors of rates hold where the processes, the server and the driver have cores of their own. */
function listRatios({ one, two, samePayer }: Groups): Figure[] {
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

function listDelays(notified: readonly number[], looked: readonly number[]): Figure[] {
  return [
    {
      name: "task at one process to its offer at another, ms, 99th percentile",
      value: computePercentile99(notified),
      floor: 100,
      goal: 30,
      bound: "max",
      rounds: notified,
    },
    {
      name: "the same without notifications, ms",
      value: computePercentile99(looked),
      floor: 3_500,
      goal: 2_500,
      bound: "max",
      rounds: looked,
    },
  ];
}
