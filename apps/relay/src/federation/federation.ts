import type { BoundedMap } from "@agent/crypto";
import type { ReplayCache } from "@agent/federation-protocol";
import type { RetrySchedule } from "@agent/federation-protocol/delivery";
import type { PendingPeer } from "@agent/federation-protocol/peering";
import type { Log } from "../observability/log.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { RemoteAgents } from "./discovery/remote-agents.ts";

/**
 * The in-memory state of a federated relay; everything that must survive a restart is in the database.
 */
export interface Federation {
  readonly endpointUrl: string;
  /** Signatures that may be used once only. */
  readonly seenSignatures: ReplayCache;
  /** Queries that were answered already. */
  readonly seenQueries: ReplayCache;
  /**
   * Proposals that await their confirmation, by relay id; bounded, because strangers can start
   * handshakes without finishing any.
   */
  readonly pendingPeers: BoundedMap<string, PendingPeer>;
  /** Agents that peers have reported. */
  readonly remoteAgents: RemoteAgents;
  /** The last lookup of each peer's key succession, by relay id. */
  readonly keyLookups: Map<
    string,
    { readonly at: number; readonly answer: Promise<FederationPeerRow | undefined> }
  >;
  /** Peers whose last query timed out, by relay id: callers do not wait for them. */
  readonly unresponsivePeers: Set<string>;
  readonly schedule: RetrySchedule;
  /** The difference between a peer's books and the local ones, in micro-units by relay id. */
  readonly positionDifferences: Map<string, number>;
  /** Marks its records as those of the federation service. */
  readonly log: Log;
  /** Ids of tasks that no peer has accepted yet; they are tried again with the heartbeats. */
  readonly undeliveredTasks: Set<string>;
  /** Returns the timestamp for the next notice; it is strictly increasing. */
  readonly nextNoticeTime: () => number;
  /** Sends what is due at once instead of at the next tick. */
  readonly wake: () => void;
  /** Sets the function that `wake` calls. */
  readonly onWake: (look: () => void) => void;
}
