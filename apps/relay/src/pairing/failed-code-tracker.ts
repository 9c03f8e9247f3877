import { BoundedMap } from "@agent/crypto";
import { limits } from "@agent/wire";
import { countSeen, findSeen } from "../processes/seen-store.ts";
import type { Storage } from "../storage/storage.ts";

/** Tracks wrong pairing codes; an address with five is refused for the lifetime of a code. */
export interface FailedCodeTracker {
  /** Returns how long an address must still wait, in ms; 0 when it may try. */
  getWaitMs(address: string): number | Promise<number>;
  recordFailure(address: string): void | Promise<void>;
}

interface FailedTries {
  readonly count: number;
  readonly last: number;
}

const MAX_ADDRESSES = 100_000;

/** Returns a tracker for a relay with one process. */
export function createFailedCodeTracker(now: () => number, ttlMs: number): FailedCodeTracker {
  const byAddress = new BoundedMap<string, FailedTries>(MAX_ADDRESSES, { ttlMs, now });

  return {
    getWaitMs(address) {
      const tries = byAddress.get(address);
      if (tries === undefined || tries.count < limits.pairingAttempts) return 0;
      return tries.last + ttlMs - now();
    },
    recordFailure(address) {
      const count = (byAddress.get(address)?.count ?? 0) + 1;
      byAddress.set(address, { count, last: now() });
    },
  };
}

const KIND = "pairing";

/** Returns a tracker that all processes share, so that none gives an address further tries. */
export function createSharedCodeTracker(
  storage: Pick<Storage, "read" | "runAlone">,
  now: () => number,
  ttlMs: number,
): FailedCodeTracker {
  return {
    async getWaitMs(key) {
      const tries = await findSeen(storage.read, { kind: KIND, key, now: now() });
      if (tries === undefined || tries.count < limits.pairingAttempts) return 0;
      return tries.forget_at - now();
    },
    recordFailure: (key) =>
      countSeen(storage, { kind: KIND, key, now: now(), forget_at: now() + ttlMs }),
  };
}
