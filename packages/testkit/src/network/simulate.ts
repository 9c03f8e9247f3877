import { accountOf, asMicro, depositPostings, type Micro } from "@agent/budget";
import { retrySchedule } from "@agent/federation-protocol";
import { receiptOf, type TestAgent, testAgent } from "../agents.ts";
import { seededRandom, type SeededRandom } from "../random.ts";
import { answerDiscovery, discover } from "./discovering.ts";
import { EventQueue } from "./event-queue.ts";
import type { Faults } from "./faults.ts";
import { forwardingJobs, submit, takeForward } from "./forwarding.ts";
import { brokenRules } from "./invariants.ts";
import { Links, type Weather } from "./links.ts";
import { beat, shakeHands, takeConfirmation, takeHeartbeat, takeProposal } from "./peering.ts";
import { finishWork, returningJobs, takeResultOf } from "./returning.ts";
import {
  listSettlements,
  recordOutside,
  redriveAll,
  settlingJobs,
  takeSettlement,
} from "./settling.ts";
import { add, SimRelay, type World } from "./sim-relay.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const WEATHER_MS = 60 * MINUTE;
/** Long enough for whatever is retried, asked, lapsed or re-driven. */
const AFTERMATH_MS = 240 * MINUTE;
const TASKS = 40;
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
  startWeather(world, relays, pairs);
  startWork(world, relays, payers);
  queue.runUntil(start + WEATHER_MS);
  heal(world, relays, pairs);
  queue.runUntil(start + WEATHER_MS + AFTERMATH_MS);
  const deposited = payers.length * DEPOSIT;
  for (const { store } of relays) {
    for (const { state } of store.own.values()) add(world.tally, `task ${state}`);
  }
  const violations = [...world.violations, ...brokenRules(relays, deposited)];
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

interface Payer {
  readonly relay: SimRelay;
  readonly agentId: string;
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
      for (const home of new Set([relay, second]))
        home.workers.set(agent.agentId, { agent, price });
    }
  }
  return relays.map((relay) => {
    const { agentId } = newAgent(relay);
    relay.post(null, depositPostings({ agentId, amount: DEPOSIT }));
    return { relay, agentId };
  });
}

function startWeather(
  { queue, random, links }: World,
  relays: readonly SimRelay[],
  pairs: readonly (readonly [SimRelay, SimRelay])[],
): void {
  const usual = showers(random);
  links.weather = usual;
  for (let i = random.below(6); i > 0; i -= 1) {
    const at = random.below(WEATHER_MS - 10 * MINUTE);
    const worse = storm(random);
    queue.after(at, () => (links.weather = worse));
    queue.after(at + (2 + random.below(8)) * MINUTE, () => (links.weather = usual));
  }
  for (let i = random.below(6); i > 0; i -= 1) {
    const relay = random.pick(relays as [SimRelay]);
    queue.after(random.below(WEATHER_MS), () => relay.crash(someTime(random)));
  }
  for (let i = random.below(8); i > 0; i -= 1) {
    const [one, other] = random.pick(pairs as [[SimRelay, SimRelay]]);
    const [a, b] = random.next() < 0.5 ? [one, other] : [other, one];
    const isOneWay = random.next() < 0.5;
    const isNoticed = random.next() < 0.5;
    queue.after(random.below(WEATHER_MS), () => {
      const ms = someTime(random);
      links.cut(a.id, b.id, ms, isNoticed);
      if (!isOneWay) links.cut(b.id, a.id, ms, isNoticed);
    });
  }
}

function startWork(world: World, relays: readonly SimRelay[], payers: readonly Payer[]): void {
  const { queue, random } = world;
  for (const relay of relays) {
    for (let at = 0; at < WEATHER_MS + 20 * MINUTE; at += MINUTE) {
      queue.after(at + random.below(SECOND), () => beat(relay));
      if (at % (5 * MINUTE) === 0) queue.after(at + random.below(SECOND), () => discover(relay));
    }
  }
  const workers = [...new Set(relays.flatMap(({ workers: own }) => [...own.keys()]))];
  for (let i = 0; i < TASKS; i += 1) {
    queue.after(30 * SECOND + random.below(WEATHER_MS), () => {
      const { relay, agentId } = random.pick(payers as [Payer]);
      const target = random.pick(workers as [string]);
      if (!relay.workers.has(target))
        submit(relay, agentId, target, (3 + random.below(13)) * MINUTE);
    });
  }
  for (let i = random.below(4); i > 0; i -= 1) {
    queue.after(random.below(WEATHER_MS), () => payOutside(world, relays));
  }
}

function showers(random: SeededRandom): Weather {
  const severity = random.next();
  return {
    loseRequest: 0.7 * severity * random.next(),
    loseAnswer: 0.8 * severity * random.next(),
    duplicate: 0.3 * random.next(),
    slow: 0.2 * severity * random.next(),
    verySlow: 0.1 * severity * random.next(),
    misreport: 0.25 * random.next(),
  };
}

/** Most copies are lost, and many of the others come when nobody waits for them any more. */
function storm(random: SeededRandom): Weather {
  return {
    loseRequest: 0.5 + 0.3 * random.next(),
    loseAnswer: 0.5 * random.next(),
    duplicate: 0.1,
    slow: 0.1,
    verySlow: 0.9 * random.next(),
    misreport: 0,
  };
}

/** Mostly short, at times longer than everything that is retried. */
function someTime(random: SeededRandom): number {
  return random.below(random.next() < 0.4 ? 40 * MINUTE : 3 * MINUTE);
}

/** One relay pays what it owes to another; both record it, the other one later. */
function payOutside({ queue, random }: World, relays: readonly SimRelay[]): void {
  const debts = relays.flatMap((relay) =>
    [...relay.store.peers.keys()]
      .map((peerId) => ({ relay, peerId, owed: relay.store.balanceOf(accountOf.peer(peerId)) }))
      .filter(({ owed }) => owed > 0),
  );
  if (debts.length === 0) return;
  const { relay, peerId, owed } = random.pick(debts as [(typeof debts)[number]]);
  const amount: Micro = owed;
  const payment = { amount, reference: relay.newId() };
  if (!recordOutside(relay, peerId, { ...payment, direction: "paid" })) return;
  const creditor = relay.world.relays.get(peerId);
  const record = (): void => {
    if (creditor && !recordOutside(creditor, relay.id, { ...payment, direction: "received" })) {
      queue.after(MINUTE, record);
    }
  };
  queue.after(random.below(5 * MINUTE), record);
}

function heal(
  { queue, links }: World,
  relays: readonly SimRelay[],
  pairs: readonly (readonly [SimRelay, SimRelay])[],
): void {
  links.heal();
  for (const relay of relays) relay.restart();
  for (const at of [1, 3, 5, 7, 9, 12].map((minute) => minute * MINUTE)) {
    for (const [a, b] of pairs) queue.after(at, () => shakeHands(a, b.id));
  }
  for (let at = 20; at < 220; at += 20) {
    for (const relay of relays) queue.after(at * MINUTE, () => redriveAll(relay));
  }
}

/** An agent works for a while; it tells its relay until that listens. */
function work({ queue, random }: World, relay: SimRelay, taskId: string): void {
  const row = relay.store.inbound.get(taskId);
  const worker = row && relay.workers.get(row.task.agentId);
  if (!row || !worker) return;
  const ms = SECOND + random.below(2 * MINUTE);
  const status = random.next() < 0.8 ? "completed" : random.pick(["failed", "denied"] as const);
  const deliver = (): void => {
    if (relay.isDown) return queue.after(20 * SECOND, deliver);
    const { submittedAt: submitted_at, payload } = row;
    const task = { task_id: taskId, prompt: payload.prompt, submitted_at };
    const completed_at = submitted_at + ms;
    finishWork(relay, taskId, receiptOf(worker.agent, task, { status, completed_at }));
  };
  queue.after(ms, deliver);
}
