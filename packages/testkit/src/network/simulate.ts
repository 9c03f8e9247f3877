import { asMicro, depositPostings } from "@agent/budget";
import { retrySchedule } from "@agent/federation-protocol";
import { type TestAgent, testAgent } from "../agents.ts";
import { seededRandom } from "../random.ts";
import { answerDiscovery } from "./relay/discovering.ts";
import { EventQueue } from "./event-queue.ts";
import type { Faults } from "./faults.ts";
import { forwardingJobs, takeForward } from "./relay/forwarding.ts";
import { brokenRules } from "./rules/broken-rules.ts";
import { Links } from "./links.ts";
import { beat, takeHeartbeat, takeRemoval } from "./relay/heartbeats.ts";
import { shakeHands, takeConfirmation, takeProposal } from "./relay/peering.ts";
import { returningJobs, takeResultOf } from "./relay/returning.ts";
import { listSettlements, redriveAll, settlingJobs, takeSettlement } from "./relay/settling.ts";
import { add, SimRelay, type Worker, type World } from "./relay/sim-relay.ts";
import { MINUTE, startWeather } from "./actors/weather.ts";
import { startFreezes } from "./actors/backups.ts";
import { startClockJumps } from "./actors/clock-jumps.ts";
import { startDefaulter } from "./actors/defaulter.ts";
import { startForger } from "./actors/forger.ts";
import { startRemovals } from "./actors/removals.ts";
import { Truth } from "./truth.ts";
import { type Payer, startWork, work } from "./actors/workload.ts";

const WEATHER_MS = 60 * MINUTE;
/** Long enough for whatever is retried, asked, lapsed or re-driven. */
const AFTERMATH_MS = 240 * MINUTE;
const DEPOSIT = asMicro(20e6);

/** What one run came to. */
export interface Outcome {
  readonly seed: number;
  /** In words; none when every rule held. */
  readonly violations: readonly string[];
  /** How often things happened, to show that a run was no idle one. */
  readonly counts: Readonly<Record<string, number>>;
}

const parts = {
  handlers: {
    discover: answerDiscovery,
    "peer/propose": takeProposal,
    "peer/confirm": takeConfirmation,
    "peer/heartbeat": takeHeartbeat,
    "peer/remove": takeRemoval,
    "task/forward": takeForward,
    "task/result": takeResultOf,
    "settlement/forward": takeSettlement,
    settlements: listSettlements,
  },
  jobs: [forwardingJobs, returningJobs, settlingJobs],
};

/**
 * Runs three to five relays through bad weather, lets it clear, and looks at what they keep. The same
 * seed gives the same run; `note` hears every step of it.
 */
export function simulate(
  seed: number,
  { faults = {}, note = () => {} }: { faults?: Faults; note?: (line: string) => void } = {},
): Outcome {
  const random = seededRandom(seed);
  const queue = new EventQueue();
  const links = new Links(queue, random);
  // Short enough for the weather to outlast all retries at times.
  const schedule = retrySchedule(random.pick([0.02, 0.02, 0.1]));
  const world: World = {
    queue,
    random,
    links,
    schedule,
    faults,
    truth: new Truth(),
    relays: new Map(),
    violations: [],
    tally: new Map(),
    note,
    work: (relay, taskId) => work(world, relay, taskId),
  };
  const relays = buildRelays(world);
  const pairs = choosePairs(world, relays);
  const payers = populate(world, relays);
  for (const [a, b] of pairs) shakeHands(a, b.id);
  queue.runUntil(MINUTE);
  const start = queue.now;
  startWeather(world, relays, pairs, WEATHER_MS);
  startWork(world, relays, payers, WEATHER_MS);
  startClockJumps(world, relays, WEATHER_MS);
  startRemovals(world, pairs, WEATHER_MS);
  startDefaulter(world, relays, payers, WEATHER_MS);
  startFreezes(world, relays, WEATHER_MS);
  startForger(world, payers, WEATHER_MS);
  queue.runUntil(start + WEATHER_MS);
  heal(world, relays, pairs);
  queue.runUntil(start + WEATHER_MS + AFTERMATH_MS);
  const deposited = payers.length * DEPOSIT;
  for (const { store } of relays) {
    for (const { state } of store.own.values()) add(world.tally, `task ${state}`);
  }
  const violations = [...world.violations, ...brokenRules(world, relays, deposited)];
  return { seed, violations, counts: Object.fromEntries(world.tally) };
}

function buildRelays(world: World): SimRelay[] {
  const { random } = world;
  const usual = random.pick([0.05, 0.05, 0.1, 0]);
  return ["A", "B", "C", "D", "E"].slice(0, 3 + random.below(3)).map((name) => {
    const feeRate = random.next() < 0.9 ? usual : 0.05;
    // Two clocks are never further apart than a signed time may be old.
    const skewMs = Math.round((random.next() - 0.5) * 0.8 * world.schedule.lifetimeMs);
    const relay = new SimRelay(world, { name, feeRate, skewMs }, parts);
    world.relays.set(relay.id, relay);
    return relay;
  });
}

/** A line, so that each relay is reached, and some shorter ways. */
function choosePairs({ random }: World, relays: readonly SimRelay[]): [SimRelay, SimRelay][] {
  return relays.flatMap((a, i) =>
    relays
      .slice(i + 1)
      .filter((_, distance) => distance === 0 || random.next() < 0.4)
      .map((b): [SimRelay, SimRelay] => [a, b]),
  );
}

/** Workers, some of them at two relays, and agents with money to delegate. */
function populate({ random }: World, relays: readonly SimRelay[]): Payer[] {
  const newAgent = (relay: SimRelay): TestAgent =>
    testAgent({ now: () => relay.now, randomBytes: random.randomBytes });
  for (const relay of relays) {
    for (let i = 0; i < 2; i += 1) {
      const agent = newAgent(relay);
      const price = asMicro(random.pick([0, 1, 250_000, 333_333, 1_000_000, 1_999_999]));
      const second = random.pick(relays as [SimRelay]);
      for (const home of new Set([relay, second])) addWorker(home, { agent, price });
    }
  }
  return relays.map((relay) => {
    const agent = newAgent(relay);
    const { agentId } = agent;
    relay.keys.set(agentId, agent.publicKey);
    relay.post(null, depositPostings({ agentId, amount: DEPOSIT }));
    return { relay, agent };
  });
}

function addWorker(relay: SimRelay, worker: Worker): void {
  const { agentId, publicKey } = worker.agent;
  relay.workers.set(agentId, worker);
  relay.keys.set(agentId, publicKey);
}

function heal(
  { queue, links }: World,
  relays: readonly SimRelay[],
  pairs: readonly (readonly [SimRelay, SimRelay])[],
): void {
  links.heal();
  for (const relay of relays) relay.restart();
  for (const at of [1, 3, 5, 7, 9, 12, 16, 20].map((minute) => minute * MINUTE)) {
    for (const [a, b] of pairs) queue.after(at, () => shakeHands(a, b.id));
  }
  for (let at = 20; at < 220; at += 20) {
    for (const relay of relays) queue.after(at * MINUTE, () => redriveAll(relay));
  }
  for (let at = 225; at < 230; at += 1) {
    for (const relay of relays) queue.after(at * MINUTE, () => beat(relay));
  }
}
