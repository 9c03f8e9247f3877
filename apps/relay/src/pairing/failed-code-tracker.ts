import { BoundedMap } from "@agent/crypto";
import { limits } from "@agent/wire";

/** Tracks wrong pairing codes; an address with five is refused for the lifetime of a code. */
export interface FailedCodeTracker {
  /** Returns how long an address must still wait, in ms; 0 when it may try. */
  getWaitMs(address: string): number;
  recordFailure(address: string): void;
}

interface FailedTries {
  readonly count: number;
  readonly last: number;
}

const MAX_ADDRESSES = 100_000;

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
