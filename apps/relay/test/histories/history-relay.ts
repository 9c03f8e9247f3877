import { join } from "node:path";
import {
  createManualClock,
  createSeededRandom,
  createToken,
  type ManualClock,
  type TestAgent,
} from "@agent/testkit";
import { createRelayClock } from "../../src/clock/relay-clock.ts";
import { backUpStored, restoreStored, runStoredCommand } from "../engine/backup.ts";
import { copyStored, openStoredRows, type StoredRows } from "../engine/stored.ts";
import { cardEnv } from "../payments/card-processor.ts";
import {
  startLocalFacilitator,
  x402Env,
  type LocalFacilitator,
} from "../payments/x402-facilitator.ts";
import { openWallet, type Wallet } from "../payments/x402-wallet.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";
import { createFacts, type Facts, type Party } from "./facts.ts";

/** Enough lines to see what led to a fault. */
const MAX_NOTES = 60;

export interface HistoryRelayOptions {
  readonly clock?: ManualClock;
  /** Two relays of a history need different random numbers, because their keys come from them. */
  readonly seed?: number;
  /** The name in the report of a fault. */
  readonly name?: string;
}

/** A relay on a file that a history stops, kills and restores, with its agents and what they have done. */
export class HistoryRelay {
  readonly clock: ManualClock;
  readonly name: string;
  readonly facilitator: LocalFacilitator;
  readonly wallet: Wallet;
  facts: Facts = createFacts();
  /** By how many milliseconds the wall clock of the relay is ahead. */
  ahead = 0;
  /** The peer whose agents also get tasks. */
  neighbour: { chooseParty(pick: number): TestAgent } | undefined;
  /** The logged lines about books that differ from those of the peer. */
  readonly alarms: string[] = [];
  /** False while the relay is stopped, and from the moment of a crash. */
  isRunning = false;
  #t!: TestRelay;
  #rows!: StoredRows;
  #path: string;
  #backup: { readonly path: string; readonly facts: Facts } | undefined;
  #starts = 0;
  #files = 0;
  #names = 0;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #seed: number;
  #notes: string[] = [];

  private constructor(
    folder: string,
    env: Record<string, string>,
    {
      facilitator,
      clock,
      seed,
      name,
    }: Required<HistoryRelayOptions> & { readonly facilitator: LocalFacilitator },
  ) {
    this.#folder = folder;
    this.facilitator = facilitator;
    this.clock = clock;
    this.#seed = seed;
    this.name = name;
    this.#env = {
      ...cardEnv("http://127.0.0.1:1"),
      ...x402Env(facilitator.url),
      ...env,
    };
    this.#path = this.#nextPath();
    this.wallet = openWallet(createSeededRandom(7 + seed).randomBytes, clock.now);
  }

  static async open(
    folder: string,
    env: Record<string, string>,
    { clock = createManualClock(), seed = 0, name = "" }: HistoryRelayOptions = {},
  ): Promise<HistoryRelay> {
    const facilitator = await startLocalFacilitator(clock.now);
    const relay = new HistoryRelay(folder, env, { facilitator, clock, seed, name });
    await relay.#start();
    return relay;
  }

  /** The running relay, whose agents have its time. */
  get t(): TestRelay {
    return this.#t;
  }

  now(): number {
    return this.#t.clock.now();
  }

  async #start(): Promise<void> {
    const { clock } = this;
    const relayClock = createRelayClock({
      wall: () => clock.now() + this.ahead,
      monotonic: clock.now,
    });
    this.#starts += 1;
    const env = { ...this.#env, AGENT_DB_PATH: this.#path };
    const t = await startTestRelay(env, this.#seed + this.#starts, clock, relayClock);
    const { randomBytes } = createSeededRandom(this.#seed + 1_000 + this.#starts);
    const token: TestRelay["token"] = (agent, scope) =>
      createToken(agent, t.did, { now: relayClock.now, randomBytes }, scope);
    this.#t = {
      ...t,
      clock: { ...t.clock, now: relayClock.now },
      token,
      as: async (agent, method, path, body) =>
        t.request(method, path, { token: await token(agent), body }),
    };
    this.#rows = await openStoredRows(this.#path);
    this.isRunning = true;
    await t.relay.tick();
  }

  async #stop(): Promise<void> {
    await this.#rows.close();
    await this.#t.close();
    this.isRunning = false;
  }

  async restart(): Promise<void> {
    await this.#stop();
    await this.#start();
  }

  /** Continues with the database as it is now, as after `kill -9`, although requests are running. */
  async crash(running: Promise<unknown> = Promise.resolve()): Promise<void> {
    const copy = this.#nextPath();
    this.isRunning = false;
    await copyStored(this.#path, copy);
    await running;
    await this.#stop();
    this.#path = copy;
    await this.#start();
  }

  async backUp(): Promise<void> {
    const path = this.#nextPath();
    await backUpStored(this.#path, path);
    this.#backup = { path, facts: structuredClone(this.facts) };
  }

  /** Continues with the last backup, and is then frozen; false if there is none. */
  async restore(): Promise<boolean> {
    if (this.#backup === undefined) return false;
    // Two restores in one second would begin the same generation of the log.
    await this.clock.advance(1_000);
    await this.#stop();
    await restoreStored(this.#path, this.#backup.path, this.clock.now());
    this.facts = structuredClone(this.#backup.facts);
    await this.#start();
    return true;
  }

  /** Gives the stopped relay a new key by its command. */
  async rotateKey(): Promise<void> {
    // A step of the succession must be later than the one before.
    await this.clock.advance(2_000);
    await this.#stop();
    await runStoredCommand("rotate-key", this.#path, {
      now: this.clock.now(),
      randomBytes: createSeededRandom(this.#seed + 2_000 + this.#starts).randomBytes,
    });
    await this.#start();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.tick();
  }

  async tick(): Promise<void> {
    await this.#t.relay.tick();
    await this.#t.relay.idle();
  }

  /** Reads rows of the database; each question mark stands for a value. */
  list<Row>(text: string, values: readonly (string | number)[] = []): Promise<Row[]> {
    return this.#rows.all<Row>(text, values);
  }

  as(agent: TestAgent, method: string, path: string, body?: unknown): Promise<Reply> {
    return this.report(`${method} ${path}`, this.#t.as(agent, method, path, body));
  }

  asOperator(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.report(`operator: ${method} ${path}`, this.#t.asOperator(method, path, body));
  }

  /** Keeps an answer for the report of a fault; no request may fail inside the relay. */
  async report(what: string, answer: Promise<Reply>): Promise<Reply> {
    const reply = await answer;
    const { status, body } = reply;
    this.note(`${this.name} ${what}: ${status} ${status >= 400 ? String(body["code"]) : ""}`);
    if (status === 500) this.fail("a request failed", this.#t.listLogged("request.failed"));
    return reply;
  }

  note(line: string): void {
    this.#notes.push(line);
  }

  /** Writes its notes beside those of another relay, in the order of time. */
  joinNotes(other: HistoryRelay): void {
    this.#notes = other.#notes;
  }

  fail(rule: string, detail: unknown): never {
    throw new Error(
      `${rule}: ${JSON.stringify(detail)}\n${this.#notes.slice(-MAX_NOTES).join("\n")}`,
    );
  }

  /** Chooses among the agents that are not revoked, and sometimes among all. */
  chooseParty(pick: number): Party {
    const { parties } = this.facts;
    const active = parties.filter(({ revoked }) => !revoked);
    return chooseFrom(pick % 12 === 11 ? parties : active, pick >> 4)!;
  }

  /** Chooses the target of a task: an agent of this relay or of its peer. */
  chooseWorker(pick: number): TestAgent {
    const isNear = this.neighbour === undefined || pick % 3 === 0;
    return isNear ? this.chooseParty(pick) : this.neighbour!.chooseParty(pick);
  }

  findParty(id: string | null): Party | undefined {
    return this.facts.parties.find(({ agentId }) => agentId === id);
  }

  replaceParty(party: Party): void {
    const { parties } = this.facts;
    this.facts.parties = parties.map((each) => (each.agentId === party.agentId ? party : each));
  }

  /** Returns a number that no other name has. */
  nextName(): number {
    this.#names += 1;
    return this.#names;
  }

  #nextPath(): string {
    this.#files += 1;
    return join(this.#folder, `${this.#files}.db`);
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.facilitator.close();
  }
}

export function chooseFrom<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items.length === 0 ? undefined : items[pick % items.length];
}

/** Returns an amount in dollars of up to `max` micro-units. */
export function chooseAmount(pick: number, max: number): number {
  return (1 + (pick % max)) / 1e6;
}
