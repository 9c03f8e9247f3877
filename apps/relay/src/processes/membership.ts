import { StorageUnavailable, type Storage } from "../storage/storage.ts";

/** This process among those of the relay that share its database. */
export interface Membership {
  /** The name that the operator gave it. */
  readonly name: string;
  /** Whether there may be other processes; one that is always alone leads and writes no rows. */
  readonly isShared: boolean;
  /** The id of this start of the process, by which its rows are found. */
  id(): string;
  /** Whether it does the work that one process does for all. */
  isLeader(): boolean;
  /** False once it has not renewed its row for so long that others may consider it dead. */
  isAlive(): boolean;
  /** Whether it has recently read what the other processes have changed. */
  isUpToDate(): boolean;
  /** Notes that everything was read that had changed `age` ms ago. */
  markUpToDate(age: number): void;
  /** Returns how far the clock of this machine is from the database's, in ms, by the last renewal. */
  clockSkew(): number;
  /**
   * False while its clock differs from the database's by more than two seconds although another process leads,
   * which only one whose clock does not differ may do.
   */
  hasSoundClock(): boolean;
  /** Returns a storage whose transactions reject as soon as another process leads. */
  asLeader(storage: Storage): Storage;
  /** Renews its row, and leads if no other process does. */
  renew(): Promise<void>;
  /** Lets another process lead, and never leads again. */
  resign(): Promise<void>;
  /** Gives up its rows, so that others take over at once. */
  leave(): Promise<void>;
}

/** Another process leads since the work began. */
export class LeadershipLost extends StorageUnavailable {
  constructor() {
    super("another process leads");
  }
}

/** Returns the membership of a process that is alone with its database. */
export function createSoleMembership(name: string): Membership {
  return {
    name,
    isShared: false,
    id: () => "",
    isLeader: () => true,
    isAlive: () => true,
    isUpToDate: () => true,
    markUpToDate() {},
    clockSkew: () => 0,
    hasSoundClock: () => true,
    asLeader: (storage) => storage,
    renew: () => Promise.resolve(),
    resign: () => Promise.resolve(),
    leave: () => Promise.resolve(),
  };
}
