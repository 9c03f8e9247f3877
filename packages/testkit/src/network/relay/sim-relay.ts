import { accountOf, type Micro, type Posting } from "@agent/budget";
import { bytesToHex, generateKeyPair, uuidV7 } from "@agent/crypto";
import {
  type ClearingLine,
  defaultedAmount,
  type Delivery,
  exposureOf,
  type FederationRefusal,
  isLive,
  isUsable,
  type KnownAgent,
  OnceWithin,
  payableOf,
  payableOfSettlement,
  REFUSAL_STATUS,
  type RetrySchedule,
} from "@agent/federation-protocol";
import type { TestAgent } from "../../agents.ts";
import type { SeededRandom } from "../../random.ts";
import type { EventQueue } from "../event-queue.ts";
import type { Faults } from "../faults.ts";
import type { Links, Reply, Station } from "../links.ts";
import { type Peer, RelayStore } from "./relay-store.ts";

/** An agent of a simulated relay. */
export interface Worker {
  readonly agent: TestAgent;
  readonly price: Micro;
}

/** What all relays of one run share. */
export interface World {
  readonly queue: EventQueue;
  readonly random: SeededRandom;
  readonly links: Links;
  readonly schedule: RetrySchedule;
  readonly faults: Faults;
  readonly relays: Map<string, SimRelay>;
  /** Rules that were seen broken on the way. */
  readonly violations: string[];
  /** How often things happened. */
  readonly tally: Map<string, number>;
  readonly note: (line: string) => void;
  /** An agent begins to work; its receipt goes to the relay when it is done. */
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
 * A relay without HTTP and database: the rules are those of @agent/federation-protocol, this class
 * only carries messages to them and stores what they decide.
 */
export class SimRelay implements Station {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
  readonly secretKey: Uint8Array;
  readonly feeRate: number;
  readonly world: World;
  readonly workers = new Map<string, Worker>();
  readonly store = new RelayStore();
  epoch = 0;
  isDown = false;
  /** Forgotten by a crash: what the peers' answers told, by peer, and which queries were seen. */
  known = new Map<string, readonly KnownAgent[]>();
  queries = new OnceWithin(30_000, 1_000);
  readonly #skewMs: number;
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #jobs: readonly Job[];
  #wakesAt = Infinity;

  constructor(
    world: World,
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
    this.#skewMs = settings.skewMs;
    this.publicKey = bytesToHex(publicKey);
    this.secretKey = secretKey;
    this.id = this.newId();
    this.#handlers = handlers;
    this.#jobs = jobs;
  }

  /** By the relay's own clock, in ms. */
  get now(): number {
    return START + this.world.queue.now + this.#skewMs;
  }

  newId(): string {
    return uuidV7(this.now, this.world.random.randomBytes(10));
  }

  crash(ms: number): void {
    if (this.isDown) return;
    this.note(`crashes for ${ms} ms`);
    this.tally("relay crashed");
    this.isDown = true;
    this.epoch += 1;
    this.known = new Map();
    this.queries = new OnceWithin(30_000, 1_000);
    this.#wakesAt = Infinity;
    this.world.queue.after(ms, () => this.restart());
  }

  restart(): void {
    if (!this.isDown) return;
    this.isDown = false;
    this.note("is back");
    this.tick();
  }

  receive(from: string, path: string, body: unknown, reply: (reply: Reply) => void): void {
    const handler = this.#handlers[path];
    const answer = handler?.(this, from, body as never, reply);
    if (answer === undefined) return;
    const outcome = answer.code ?? answer.status;
    this.note(`answers ${this.nameOf(from)} ${path}: ${outcome}`);
    this.tally(`${path} ${outcome}`);
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
      ended(delivery, answer);
      this.tick();
    });
  }

  /** Does whatever is due, and sets the clock for what comes next. */
  tick(): void {
    if (this.isDown) return;
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
      if (this.epoch === epoch && !this.isDown && this.now >= this.#wakesAt) {
        this.#wakesAt = Infinity;
        this.tick();
      }
    });
  }

  peer(relayId: string): Peer | undefined {
    return this.store.peers.get(relayId);
  }

  isUsablePeer(relayId: string): boolean {
    const peer = this.peer(relayId);
    return peer !== undefined && isUsable(peer.life);
  }

  isLivePeer(relayId: string): boolean {
    const peer = this.peer(relayId);
    return peer !== undefined && isLive(peer.life);
  }

  lineWith(relayId: string): ClearingLine {
    let payable = 0;
    for (const { task } of this.store.outbound.values()) {
      if (task.peerId === relayId) payable += payableOf(task);
    }
    for (const settlement of this.store.outbox.values()) {
      if (settlement.peerId === relayId) payable += payableOfSettlement(settlement);
    }
    let defaulted = 0;
    for (const { task } of this.store.inbound.values()) {
      if (task.peerId === relayId) defaulted += defaultedAmount(task);
    }
    return {
      balance: this.store.balanceOf(accountOf.peer(relayId)),
      payable: payable as Micro,
      limit: this.peer(relayId)?.limit ?? (0 as Micro),
      defaulted: defaulted as Micro,
    };
  }

  post(taskId: string | null, postings: readonly Posting[]): void {
    this.store.post(taskId, postings);
    for (const { account, amount } of postings) {
      if (amount >= 0 || !account.startsWith("peer:")) continue;
      const line = this.lineWith(account.slice("peer:".length));
      if (exposureOf(line) > line.limit) this.violate(`exposure above the limit on ${account}`);
    }
  }

  refuse({ code }: FederationRefusal): Reply {
    return { status: REFUSAL_STATUS[code], code };
  }

  nameOf(relayId: string): string {
    return this.world.relays.get(relayId)?.name ?? relayId;
  }

  tally(what: string): void {
    add(this.world.tally, what);
  }

  note(line: string): void {
    this.world.note(`${this.world.queue.now} ${this.name} ${line}`);
  }

  violate(what: string): void {
    this.world.violations.push(`${this.name}: ${what}`);
  }
}

export function add(tally: Map<string, number>, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

const START = 1_760_000_000_000;
