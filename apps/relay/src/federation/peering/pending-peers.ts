import { BoundedMap } from "@agent/crypto";
import { isProposalExpired, type PendingPeer } from "@agent/federation-protocol/peering";
import { limits } from "@agent/wire";

/**
 * Proposals that await their confirmation, by relay id; bounded, because strangers can start handshakes
 * without finishing any.
 */
export interface PendingPeers {
  find(relayId: string): Promise<PendingPeer | undefined>;
  /** Adds a proposal. It replaces expired ones and, if there are too many, the oldest. */
  add(pending: PendingPeer, now: number): Promise<void>;
  /** Removes a proposal and returns it, to one caller only. */
  take(relayId: string): Promise<PendingPeer | undefined>;
  list(): Promise<readonly PendingPeer[]>;
}

/** Returns the proposals of a relay with one process; they end with it. */
export function createPendingPeers(): PendingPeers {
  const pending = new BoundedMap<string, PendingPeer>(limits.federationProposals);
  return {
    find: (relayId) => Promise.resolve(pending.get(relayId)),
    add(added, now) {
      for (const [relayId, waiting] of pending) {
        if (isProposalExpired(waiting, now)) pending.delete(relayId);
      }
      pending.set(added.peer.relayId, added);
      return Promise.resolve();
    },
    take(relayId) {
      const taken = pending.get(relayId);
      pending.delete(relayId);
      return Promise.resolve(taken);
    },
    list: () => Promise.resolve([...pending].map(([, waiting]) => waiting)),
  };
}
