import type { RetrySchedule } from "@agent/federation-protocol/delivery";
import type { PositionDifference } from "@agent/federation-protocol/settlement";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import type { Log } from "../observability/log.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { SeenOnce } from "../processes/seen-once.ts";
import type { PendingPeers } from "./peering/pending-peers.ts";
import type { RemoteAgents } from "./discovery/remote-agents.ts";

/** The state that all processes of a federated relay must agree on. */
export interface AgreedState {
  /** Signatures that may be used once only. */
  readonly seenSignatures: SeenOnce;
  /** Queries that were answered already. */
  readonly seenQueries: SeenOnce;
  readonly pendingPeers: PendingPeers;
  /** Returns the timestamp for the next notice; it is strictly increasing. */
  readonly nextNoticeTime: () => number | Promise<number>;
}

/**
 * The in-memory state of a federated relay; everything that must survive a restart is in the database.
 */
export interface Federation extends AgreedState {
  readonly endpointUrl: string;
  /** Agents that peers have reported. */
  readonly remoteAgents: RemoteAgents;
  /** The queries sent to each peer; users cause them, so they stay below what a peer accepts. */
  readonly queryLimiter: RateLimiter;
  /** The lookups of peers' key successions within the last second, by relay id. */
  readonly keyLookups: Map<
    string,
    { readonly at: number; readonly answer: Promise<FederationPeerRow | undefined> }
  >;
  /** Peers whose last query timed out, by relay id: callers do not wait for them. */
  readonly unresponsivePeers: Set<string>;
  readonly schedule: RetrySchedule;
  /** The difference between a peer's books and the local ones, by relay id. */
  readonly positionDifferences: Map<string, PositionDifference>;
  /** Marks its records as those of the federation service. */
  readonly log: Log;
  /** Ids of tasks that no peer has accepted yet; they are tried again with the heartbeats. */
  readonly undeliveredTasks: Set<string>;
  /** Sends what is due at once instead of at the next tick. */
  readonly wake: () => void;
  /** Sets the function that `wake` calls. */
  readonly onWake: (look: () => void) => void;
}
