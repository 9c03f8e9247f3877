import { limits } from "@agent/wire";

/** Tracks wrong pairing codes; an address with five is refused for the lifetime of a code. */
export interface FailedCodeTracker {
  /** Returns how long an address must still wait, in ms; 0 when it may try. */
  getWaitMs(address: string): number;
  recordFailure(address: string): void;
}

interface FailedTries {
  count: number;
  last: number;
}

const MAX_ADDRESSES = 100_000;

export function createFailedCodeTracker(now: () => number, ttlMs: number): FailedCodeTracker {
  // Ordered by the last wrong code, so that the oldest are dropped first.
  const byAddress = new Map<string, FailedTries>();
  const current = (address: string) => {
    const tries = byAddress.get(address);
    return tries !== undefined && now() < tries.last + ttlMs ? tries : undefined;
  };

  return {
    getWaitMs(address) {
      const tries = current(address);
      if (tries === undefined || tries.count < limits.pairingAttempts) return 0;
      return tries.last + ttlMs - now();
    },
    recordFailure(address) {
      const count = (current(address)?.count ?? 0) + 1;
      byAddress.delete(address);
      byAddress.set(address, { count, last: now() });
      if (byAddress.size <= MAX_ADDRESSES) return;
      const oldest = byAddress.keys().next();
      if (!oldest.done) byAddress.delete(oldest.value);
    },
  };
}
