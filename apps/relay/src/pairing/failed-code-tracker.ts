import { BoundedMap } from "@agent/crypto";
import { limits } from "@agent/wire";
import { listClientLimits } from "../http/limits/client-limits.ts";
import { countSeen, findSeen } from "../processes/seen-store.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Tracks wrong pairing codes; a client with five is refused for the lifetime of a code. They count in each of its
 * networks.
 */
export interface FailedCodeTracker {
  /** Returns how long a client of an address must still wait, in ms; 0 when it may try. */
  getWaitMs(address: string): number | Promise<number>;
  recordFailure(address: string): void | Promise<void>;
}

interface FailedTries {
  readonly count: number;
  readonly last: number;
}

const MAX_NETWORKS = 100_000;

/** Returns a tracker for a relay with one process. */
export function createFailedCodeTracker(now: () => number, ttlMs: number): FailedCodeTracker {
  const byNetwork = new BoundedMap<string, FailedTries>(MAX_NETWORKS, { ttlMs, now });

  return {
    getWaitMs(address) {
      const waits = listCodeLimits(address).map(({ network, limit }) => {
        const tries = byNetwork.get(network);
        return tries === undefined || tries.count < limit ? 0 : tries.last + ttlMs - now();
      });
      return Math.max(...waits);
    },
    recordFailure(address) {
      for (const { network } of listCodeLimits(address)) {
        const count = (byNetwork.get(network)?.count ?? 0) + 1;
        byNetwork.set(network, { count, last: now() });
      }
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
    async getWaitMs(address) {
      const waits = listCodeLimits(address).map(async ({ network, limit }) => {
        const tries = await findSeen(storage.read, { kind: KIND, key: network, now: now() });
        return tries === undefined || tries.count < limit ? 0 : tries.forget_at - now();
      });
      return Math.max(...(await Promise.all(waits)));
    },
    async recordFailure(address) {
      const counted = listCodeLimits(address).map(({ network: key }) =>
        countSeen(storage, { kind: KIND, key, now: now(), forget_at: now() + ttlMs }),
      );
      await Promise.all(counted);
    },
  };
}

function listCodeLimits(address: string) {
  return listClientLimits(address, limits.pairingAttempts);
}
