import { limits } from "@agent/wire";

/** Who guesses at pairing codes; an address with five wrong ones is refused for a code's life. */
export interface WrongCodes {
  /** How long an address still has to wait; 0 when it may try. */
  waitMs(address: string): number;
  add(address: string): void;
}

interface Tries {
  count: number;
  last: number;
}

const addresses = 100_000;

export function createWrongCodes(now: () => number, ttlMs: number): WrongCodes {
  // In the order of the last wrong try, so that the oldest are forgotten first.
  const byAddress = new Map<string, Tries>();
  const current = (address: string) => {
    const tries = byAddress.get(address);
    return tries !== undefined && now() < tries.last + ttlMs ? tries : undefined;
  };

  return {
    waitMs(address) {
      const tries = current(address);
      if (tries === undefined || tries.count < limits.pairingTries) return 0;
      return tries.last + ttlMs - now();
    },
    add(address) {
      const count = (current(address)?.count ?? 0) + 1;
      byAddress.delete(address);
      byAddress.set(address, { count, last: now() });
      if (byAddress.size <= addresses) return;
      const oldest = byAddress.keys().next();
      if (!oldest.done) byAddress.delete(oldest.value);
    },
  };
}
