import type { Micro, Posting } from "@agent/budget";
import { bytesToHex, generateKeyPair, uuidV7 } from "@agent/crypto";
import { type FederationRefusal, getRefusalStatus, ReplayCache } from "@agent/federation-protocol";
import type { Delivery, RetrySchedule } from "@agent/federation-protocol/delivery";
import type { KnownAgent } from "@agent/federation-protocol/discovery";
import { isLive, isUsable, NEW_PEER } from "@agent/federation-protocol/peering";
import {
  type ClearingLine,
  getExposure,
  type PositionDifference,
} from "@agent/federation-protocol/settlement";
import type { ExecutionReceipt } from "@agent/receipts";
import type { TestAgent } from "../../agents.ts";
import type { SeededRandom } from "../../random.ts";
import type { EventQueue } from "../event-queue.ts";
import type { Faults } from "../faults.ts";
import type { Links, Reply, NetworkNode } from "../links.ts";
import type { GroundTruth } from "../ground-truth.ts";
import { getClearingLine } from "./clearing-line.ts";
import { type Peer, RelayStore } from "./relay-store.ts";
import { SimClock } from "./sim-clock.ts";

/** An agent of a simulated relay. */
export interface Worker {
  readonly agent: TestAgent;
  readonly price: Micro;
}

/** The state that all relays of one run share. */
export interface Simulation {
  readonly queue: EventQueue;
  readonly random: SeededRandom;
  readonly links: Links;
  readonly schedule: RetrySchedule;
  readonly faults: Faults;
  readonly truth: GroundTruth;
  readonly relays: Map<string, SimRelay>;
  /** The rules whose violation was found during the run. */
  readonly violations: string[];
  /** The number of occurrences of each event. */
  readonly counts: Map<string, number>;
  readonly onStep: (line: string) => void;
  /** Starts an agent's work; its receipt is delivered to the relay at the end. */
  readonly work: (relay: SimRelay, taskId: string) => void;
}

type Handler = (
  relay: SimRelay,
  from: string,
  body: never,
  reply: (reply: Reply) => void,
) => Reply | undefined;
type Job = (relay: SimRelay) => Iterable<number | null>;

/**
 * A relay without HTTP and database. It passes messages to the rules of @agent/federation-protocol
 * and stores their decisions.
 */
export class SimRelay implements NetworkNode {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
  readonly secretKey: Uint8Array;
  readonly feeRate: number;
  readonly world: Simulation;
  readonly workers = new Map<string, Worker>();
  readonly clock: SimClock;
  /** The keys of the agents of this relay, by agent id. */
  readonly keys = new Map<string, string>();
  store = new RelayStore();
  /** The start of the current freeze on the relay's own clock, and whether a restore caused it. */
  frozen: { readonly since: number; readonly restored: boolean } | null = null;
  incarnation = 0;
  /** Makes the relay cheat: it accepts results without paying for them, and may withhold its acceptance. */
  withholdsSettlements = false;
  stallMs = 0;
  /** Called once when a peer has accepted a result that it has not settled yet. */
  onAccepted: (() => void) | null = null;
  /** The time at which the relay last started working, on the simulation's clock. */
  workingSince = 0;
  /** The freezes, on the simulation's clock. */
  readonly freezes: { readonly from: number; to: number }[] = [];
  /** The receipts that its agents delivered and that it stored. */
  readonly delivered = new Map<string, ExecutionReceipt>();
  epoch = 0;
  isDown = false;
  /** State that a crash loses: the agents in the peers' answers, by peer, and the processed queries. */
  known = new Map<string, readonly KnownAgent[]>();
  queries = new ReplayCache(QUERY_LIFETIME_MS, 1_000);
  /** The difference from each peer's books at the latest comparison. */
  differences = new Map<string, PositionDifference>();
  readonly #queriesTaken = new Map<string, number>();
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #jobs: readonly Job[];
  #wakesAt = Infinity;

  constructor(
    world: Simulation,
    settings: { readonly name: string; readonly feeRate: number; readonly skewMs: number },
    {
      handlers,
      jobs,
    }: { readonly handlers: Readonly<Record<string, Handler>>; jobs: readonly Job[] },
  ) {
    const { publicKey, secretKey } = generateKeyPair(world.random.randomBytes(32));
    this.world = world;
    this.name = settings.name;
    this.feeRate = settings.feeRate;
    this.clock = new SimClock(world.queue, { ...world.faults, skewMs: settings.skewMs });
    this.publicKey = bytesToHex(publicKey);
    this.secretKey = secretKey;
    this.id = this.newId();
    this.#handlers = handlers;
    this.#jobs = jobs;
  }

  /** The time in ms on the relay's own clock. */
  get now(): number {
    return this.clock.now;
  }

  get isWorking(): boolean {
    return !this.isDown && this.frozen === null;
  }

  newId(): string {
    return uuidV7(this.now, this.world.random.randomBytes(10));
  }

  crash(ms: number): void {
    if (this.isDown) return;
    this.log(`crashes for ${ms} ms`);
    this.count("relay crashed");
    this.isDown = true;
    this.epoch += 1;
    this.known = new Map();
    this.queries = new ReplayCache(QUERY_LIFETIME_MS, 1_000);
    this.#queriesTaken.clear();
    this.differences = new Map();
    this.#wakesAt = Infinity;
    // A machine that was down for some time sets its wall clock before its relay starts.
    this.world.queue.after(ms, () => this.restart({ isClockSet: ms > 0 }));
  }

  restart({ isClockSet } = { isClockSet: true }): void {
    if (!this.isDown) return;
    this.isDown = false;
    this.clock.start({ isSet: isClockSet });
    this.workingSince = this.world.queue.now;
    this.log("is back");
    this.tick();
  }

  /** Freezes until `resume`: answers only heartbeats and lists of booked settlements. */
  freeze(restored: boolean): void {
    this.log(restored ? "is restored from a backup" : "is frozen");
    this.count(restored ? "relay restored" : "relay frozen");
    this.frozen = { since: this.now, restored };
    this.freezes.push({ from: this.world.queue.now, to: Infinity });
  }

  resume(): void {
    const { now } = this.world.queue;
    for (const freeze of this.freezes) freeze.to = Math.min(freeze.to, now);
    this.frozen = null;
    this.workingSince = now;
    this.#wakesAt = Infinity;
    this.log("goes on");
  }

  /** Returns for how long it was frozen since a time on the simulation's clock. */
  frozenMs(since: number): number {
    const { now } = this.world.queue;
    return this.freezes.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - Math.max(from, since)),
      0,
    );
  }

  /** Registers a query and returns whether it is new. */
  registerQuery(queryId: string): boolean {
    const isNew = this.queries.add(queryId, this.now);
    const { now } = this.world.queue;
    const takenAt = this.#queriesTaken.get(queryId);
    if (isNew && takenAt !== undefined && now - takenAt < QUERY_LIFETIME_MS) {
      this.reportViolation(`query ${queryId} is taken a second time after ${now - takenAt} ms`);
    }
    if (isNew) this.#queriesTaken.set(queryId, now);
    return isNew;
  }

  receive(from: string, path: string, body: unknown, reply: (reply: Reply) => void): void {
    const handler = this.#handlers[path];
    const isClosed = this.frozen !== null && !PATHS_WHILE_FROZEN.includes(path);
    const answer = isClosed ? frozenReply : handler?.(this, from, body as never, reply);
    if (answer === undefined) return;
    const outcome = answer.code ?? answer.status;
    this.log(`answers ${this.nameOf(from)} ${path}: ${outcome}`);
    this.count(`${path} ${outcome}`);
    reply(answer);
    this.tick();
  }

  send(
    to: string,
    path: string,
    body: unknown,
    ended: (delivery: Delivery, body: unknown) => void,
  ) {
    const peer = this.world.relays.get(to);
    if (peer === undefined) throw new RangeError(`no relay ${to}`);
    this.world.links.send(this, peer, path, body, (delivery, answer) => {
      // A frozen relay stores no answers either.
      if (this.frozen !== null && !PATHS_WHILE_FROZEN.includes(path)) return;
      ended(delivery, answer);
      this.tick();
    });
  }

  /** Runs the due jobs and schedules the next run. */
  tick(): void {
    if (!this.isWorking) return;
    const { now } = this;
    let next = Infinity;
    for (const job of this.#jobs) {
      for (const due of job(this)) if (due !== null && due > now) next = Math.min(next, due);
    }
    if (next >= this.#wakesAt && this.#wakesAt > now) return;
    this.#wakesAt = next;
    if (next === Infinity) return;
    const { epoch } = this;
    this.world.queue.after(next - now, () => {
      if (this.epoch === epoch && this.isWorking && this.now >= this.#wakesAt) {
        this.#wakesAt = Infinity;
        this.tick();
      }
    });
  }

  peer(relayId: string): Peer | undefined {
    return this.store.peers.get(relayId);
  }

  isUsablePeer(relayId: string): boolean {
    return isUsable(this.peer(relayId)?.record ?? NEW_PEER);
  }

  isLivePeer(relayId: string): boolean {
    return isLive(this.peer(relayId)?.record ?? NEW_PEER);
  }

  clearingLine(relayId: string): ClearingLine {
    return getClearingLine(this, relayId);
  }

  /**
   * Posts movements, and reports an exposure above a peer's limit that also exceeds the amount already `owed`.
   */
  post(taskId: string | null, postings: readonly Posting[], owed = 0): void {
    this.store.post(taskId, postings, this.now);
    for (const { account, amount } of postings) {
      if (amount >= 0 || !account.startsWith("peer:")) continue;
      const relayId = account.slice("peer:".length);
      const line = this.clearingLine(relayId);
      const ceiling = Math.max(line.limit, this.peer(relayId)?.ceiling ?? 0, owed);
      if (getExposure(line) > ceiling)
        this.reportViolation(`exposure above the limit on ${account}`);
    }
  }

  refuse({ code }: FederationRefusal): Reply {
    return { status: getRefusalStatus(code), code };
  }

  nameOf(relayId: string): string {
    return this.world.relays.get(relayId)?.name ?? relayId;
  }

  count(what: string): void {
    incrementCount(this.world.counts, what);
  }

  log(line: string): void {
    this.world.onStep(`${this.world.queue.now} ${this.name} ${line}`);
  }

  reportViolation(what: string): void {
    this.world.violations.push(`${this.name}: ${what}`);
  }
}

export function incrementCount(tally: Map<string, number>, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

const QUERY_LIFETIME_MS = 30_000;
const PATHS_WHILE_FROZEN = ["peer/heartbeat", "settlements"];
const frozenReply: Reply = { status: 503, code: "server.frozen" };
