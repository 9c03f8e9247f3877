import type { Log } from "../observability/log.ts";
import { newId, type Runtime } from "../runtime.ts";
import type { Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { acquireLease, keepLease, LEASE_MS, releaseLease, type HeldLease } from "./lease-store.ts";
import { measureSkew, type DatabaseReading } from "./measure-skew.ts";
import { LeadershipLost, type Membership } from "./membership.ts";
import {
  deleteProcess,
  insertProcess,
  PROCESS_LIFETIME_MS,
  renewProcess,
  type WrittenRow,
} from "./process-store.ts";

/** Stops working this long before others may count it as dead or take the lease. */
const MARGIN_MS = 2_000;

/** With a larger difference a process judges the times that the others have written to rows wrongly. */
export const MAX_CLOCK_SKEW_MS = 2_000;

/** If its knowledge is older, a process asks the database instead of its memory. */
const MAX_KNOWLEDGE_AGE_MS = 5_000;

/** The lease of the process that works for all. */
export const LEADER = "leader";

interface JoinDependencies {
  readonly storage: Pick<Storage, "reserved">;
  readonly runtime: Pick<Runtime, "now" | "monotonic" | "randomBytes">;
  readonly name: string;
  readonly log: Log;
}

/** Adds this process to those of the relay, under an id that no process had before. */
export async function joinProcesses(dependencies: JoinDependencies): Promise<Membership> {
  const member = new Member(dependencies);
  await member.renew();
  return member;
}

class Member implements Membership {
  readonly name: string;
  readonly isShared = true;
  readonly #storage: Pick<Storage, "reserved">;
  readonly #runtime: JoinDependencies["runtime"];
  readonly #log: Log;
  #id: string | undefined;
  #lease: HeldLease | undefined;
  /** The times just before the last successful renewals were sent. */
  #renewedAt = 0;
  #leasedAt = 0;
  #upToDateAt: number;
  #skew = 0;
  /** The time that the database stated at the last renewal. */
  #reading: DatabaseReading | undefined;
  #hasOthers = false;
  #isLedByOther = false;
  #hasResigned = false;
  #hasLeft = false;
  #renewing: Promise<void> | undefined;

  constructor({ storage, runtime, name, log }: JoinDependencies) {
    this.name = name;
    this.#storage = storage;
    this.#runtime = runtime;
    this.#log = log;
    this.#upToDateAt = this.#elapsed();
  }

  id(): string {
    return this.#id ?? "";
  }

  isLeader(): boolean {
    return this.#lease !== undefined && this.#since(this.#leasedAt) < LEASE_MS - MARGIN_MS;
  }

  isAlive(): boolean {
    return !this.#hasLeft && this.#since(this.#renewedAt) < PROCESS_LIFETIME_MS - MARGIN_MS;
  }

  isUpToDate(): boolean {
    return this.#since(this.#upToDateAt) < MAX_KNOWLEDGE_AGE_MS;
  }

  markUpToDate(age: number): void {
    this.#upToDateAt = this.#elapsed() - age;
  }

  clockSkew(): number {
    return this.#skew;
  }

  hasSoundClock(): boolean {
    if (!this.#isLedByOther || this.#reading === undefined) return true;
    return this.#measureSkew(this.#reading) <= MAX_CLOCK_SKEW_MS;
  }

  asLeader(storage: Storage): Storage {
    const lease = this.#lease;
    return {
      ...storage,
      transaction: (work, isolation) =>
        storage.transaction(async (tx) => {
          const askedAt = this.#elapsed();
          const time = lease && (await keepLease(tx, lease));
          if (time === undefined) throw new LeadershipLost();
          const reading = { time, askedAt, answeredAt: this.#elapsed() };
          if (!this.#mayLead(this.#measureSkew(reading))) throw new LeadershipLost();
          return work(tx);
        }, isolation),
    };
  }

  renew(): Promise<void> {
    if (this.#hasLeft) return Promise.resolve();
    this.#renewing ??= this.#renewRows().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async resign(): Promise<void> {
    this.#hasResigned = true;
    await this.#renewing?.catch(() => {});
    await this.#stopLeading();
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    await this.resign();
    if (this.#id !== undefined) await deleteProcess(this.#storage, this.#id);
  }

  async #renewRows(): Promise<void> {
    await this.#renewOwnRow();
    if (this.#hasResigned) return;
    if (!this.#mayLead(this.#skew)) return this.#stopLeading();
    const holder = this.id();
    const sentAt = this.#elapsed();
    const fence = await acquireLease(this.#storage, { name: LEADER, holder });
    this.#leasedAt = sentAt;
    const isNew = fence !== undefined && fence !== this.#lease?.fence;
    this.#lease = fence === undefined ? undefined : { name: LEADER, holder, fence };
    if (isNew) this.#log.info("processes.leads", { process_id: holder, fence });
  }

  async #renewOwnRow(): Promise<void> {
    const sentAt = this.#elapsed();
    const row = { process_id: this.id(), lease: LEADER };
    const renewed = this.#id === undefined ? undefined : await renewProcess(this.#storage, row);
    const { now, others, is_led } = renewed ?? (await this.#join());
    this.#renewedAt = sentAt;
    const reading = { time: now, askedAt: sentAt, answeredAt: this.#elapsed() };
    this.#reading = reading;
    this.#skew = this.#measureSkew(reading);
    this.#hasOthers = others > 0;
    this.#isLedByOther = is_led === 1;
  }

  #measureSkew(reading: DatabaseReading): number {
    // The manual clock of a test has no relation to that of the database.
    if (this.#runtime.monotonic === undefined) return 0;
    return measureSkew(reading, { now: this.#runtime.now(), elapsed: this.#elapsed() });
  }

  /** Alone, a process finds only times that it wrote by the same clock. */
  #mayLead(skew: number): boolean {
    return !this.#hasOthers || skew <= MAX_CLOCK_SKEW_MS;
  }

  /** Lets another process take the lease at once. */
  async #stopLeading(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) await releaseLease(this.#storage, lease);
  }

  /** Nothing of a process that others counted as dead must look like that of a living one. */
  async #join(): Promise<WrittenRow> {
    const process_id = newId(this.#runtime);
    const { name } = this;
    const row = { process_id, name, version, lease: LEADER };
    const joined = await insertProcess(this.#storage, row);
    if (joined === undefined) throw new Error("the process was not stored");
    this.#id = process_id;
    this.#lease = undefined;
    this.#log.info("processes.joined", { process_id, name });
    return joined;
  }

  #elapsed(): number {
    return this.#runtime.monotonic?.() ?? 0;
  }

  /** Without a clock of its own a process relies on the database, which refuses what is too late. */
  #since(sentAt: number): number {
    return this.#elapsed() - sentAt;
  }
}
