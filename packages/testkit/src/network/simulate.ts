import { asMicro, buildDepositPostings } from "@agent/budget";
import { createRetrySchedule } from "@agent/federation-protocol/delivery";
import { type TestAgent, createTestAgent } from "../agents.ts";
import { createSeededRandom } from "../random.ts";
import { receiveDiscovery } from "./relay/discovery.ts";
import { EventQueue } from "./event-queue.ts";
import type { Faults } from "./faults.ts";
import { runForwardingJobs, receiveForward } from "./relay/forwarding.ts";
import { listViolations } from "./rules/list-violations.ts";
import { Links } from "./links.ts";
import { sendHeartbeats, receiveHeartbeat, receiveRemoval } from "./relay/heartbeats.ts";
import { startHandshake, receiveConfirmation, receiveProposal } from "./relay/peering.ts";
import { runReturningJobs, receiveResult } from "./relay/results.ts";
import {
  listSettlements,
  redriveAll,
  runSettlingJobs,
  receiveSettlement,
} from "./relay/settlements.ts";
import { incrementCount, SimRelay, type Worker, type Simulation } from "./relay/sim-relay.ts";
import { MINUTE_MS, startNetworkFaults } from "./actors/network-faults.ts";
import { startBackups } from "./actors/backups.ts";
import { startClockJumps } from "./actors/clock-jumps.ts";
import { startDefaulter } from "./actors/defaulter.ts";
import { startForger } from "./actors/forger.ts";
import { startRemovals } from "./actors/peer-removals.ts";
import { GroundTruth } from "./ground-truth.ts";
import { type Payer, startWorkload, executeTask } from "./actors/workload.ts";

const FAULT_PHASE_MS = 60 * MINUTE_MS;
/** Long enough for all retries, questions, expiries and restarts. */
const RECOVERY_PHASE_MS = 240 * MINUTE_MS;
const depositAmount = asMicro(20e6);

/** The outcome of one run. */
export interface SimulationResult {
  readonly seed: number;
  /** Descriptions of the violated rules; empty if there are none. */
  readonly violations: readonly string[];
  /** The number of occurrences of each event, which shows that a run was not idle. */
  readonly counts: Readonly<Record<string, number>>;
}

const relayBehaviour = {
  handlers: {
    discover: receiveDiscovery,
    "peer/propose": receiveProposal,
    "peer/confirm": receiveConfirmation,
    "peer/heartbeat": receiveHeartbeat,
    "peer/remove": receiveRemoval,
    "task/forward": receiveForward,
    "task/result": receiveResult,
    "settlement/forward": receiveSettlement,
    settlements: listSettlements,
  },
  jobs: [runForwardingJobs, runReturningJobs, runSettlingJobs],
};

/**
 * Runs three to five relays through network faults, lets them recover and checks their state. The same seed
 * repeats the same run; `onStep` is called with every step.
 */
export function simulate(
  seed: number,
  { faults = {}, onStep = () => {} }: { faults?: Faults; onStep?: (line: string) => void } = {},
): SimulationResult {
  const random = createSeededRandom(seed);
  const queue = new EventQueue();
  const links = new Links(queue, random);
  // Short enough for the network faults to sometimes outlast all retries.
  const schedule = createRetrySchedule(random.pick([0.02, 0.02, 0.1]));
  const world: Simulation = {
    queue,
    random,
    links,
    schedule,
    faults,
    truth: new GroundTruth(),
    relays: new Map(),
    violations: [],
    counts: new Map(),
    onStep,
    work: (relay, taskId) => executeTask(world, relay, taskId),
  };
  const relays = buildRelays(world);
  const pairs = choosePairs(world, relays);
  const payers = createAgents(world, relays);
  for (const [a, b] of pairs) startHandshake(a, b.id);
  queue.runUntil(MINUTE_MS);
  const start = queue.now;
  startNetworkFaults(world, relays, pairs, FAULT_PHASE_MS);
  startWorkload(world, relays, payers, FAULT_PHASE_MS);
  startClockJumps(world, relays, FAULT_PHASE_MS);
  startRemovals(world, pairs, FAULT_PHASE_MS);
  startDefaulter(world, relays, payers, FAULT_PHASE_MS);
  startBackups(world, relays, FAULT_PHASE_MS);
  startForger(world, payers, FAULT_PHASE_MS);
  queue.runUntil(start + FAULT_PHASE_MS);
  recoverNetwork(world, relays, pairs);
  queue.runUntil(start + FAULT_PHASE_MS + RECOVERY_PHASE_MS);
  const deposited = payers.length * depositAmount;
  for (const { store } of relays) {
    for (const { state } of store.ownTasks.values()) incrementCount(world.counts, `task ${state}`);
  }
  const violations = [...world.violations, ...listViolations(world, relays, deposited)];
  return { seed, violations, counts: Object.fromEntries(world.counts) };
}

function buildRelays(world: Simulation): SimRelay[] {
  const { random } = world;
  const usual = random.pick([0.05, 0.05, 0.1, 0]);
  return ["A", "B", "C", "D", "E"].slice(0, 3 + random.below(3)).map((name) => {
    const feeRate = random.next() < 0.9 ? usual : 0.05;
    // The difference between two clocks never exceeds the maximum age of a signed time.
    const skewMs = Math.round((random.next() - 0.5) * 0.8 * world.schedule.lifetimeMs);
    const relay = new SimRelay(world, { name, feeRate, skewMs }, relayBehaviour);
    world.relays.set(relay.id, relay);
    return relay;
  });
}

/** Chooses the peerings: a line that connects all relays, and some shortcuts. */
function choosePairs({ random }: Simulation, relays: readonly SimRelay[]): [SimRelay, SimRelay][] {
  return relays.flatMap((a, i) =>
    relays
      .slice(i + 1)
      .filter((_, distance) => distance === 0 || random.next() < 0.4)
      .map((b): [SimRelay, SimRelay] => [a, b]),
  );
}

/** Creates workers, some of them at two relays, and agents with money to delegate. */
function createAgents({ random }: Simulation, relays: readonly SimRelay[]): Payer[] {
  const newAgent = (relay: SimRelay): TestAgent =>
    createTestAgent({ now: () => relay.now, randomBytes: random.randomBytes });
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
    relay.post(null, buildDepositPostings({ agentId, amount: depositAmount }));
    return { relay, agent };
  });
}

function addWorker(relay: SimRelay, worker: Worker): void {
  const { agentId, publicKey } = worker.agent;
  relay.workers.set(agentId, worker);
  relay.keys.set(agentId, publicKey);
}

function recoverNetwork(
  { queue, links }: Simulation,
  relays: readonly SimRelay[],
  pairs: readonly (readonly [SimRelay, SimRelay])[],
): void {
  links.restore();
  for (const relay of relays) relay.restart();
  for (const at of [1, 3, 5, 7, 9, 12, 16, 20].map((minute) => minute * MINUTE_MS)) {
    for (const [a, b] of pairs) queue.after(at, () => startHandshake(a, b.id));
  }
  for (let at = 20; at < 220; at += 20) {
    for (const relay of relays) queue.after(at * MINUTE_MS, () => redriveAll(relay));
  }
  for (let at = 225; at < 230; at += 1) {
    for (const relay of relays) queue.after(at * MINUTE_MS, () => sendHeartbeats(relay));
  }
}
