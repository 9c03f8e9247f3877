import type { ReplayCache } from "@agent/federation-protocol";
import type { RetrySchedule } from "@agent/federation-protocol/delivery";
import type { PendingPeer } from "@agent/federation-protocol/peering";
import type { Log } from "../observability/log.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { RemoteAgents } from "./discovery/remote-agents.ts";

/** The state of a federated relay in memory; everything that must survive a restart is in the database. */
export interface Federation {
  readonly endpointUrl: string;
  /** Signatures that open a door once. */
  readonly seenSignatures: ReplayCache;
  /** Queries that were answered. */
  readonly seenQueries: ReplayCache;
  /** Proposals that wait for their confirmation, by relay id. */
  readonly pendingPeers: Map<string, PendingPeer>;
  /** Agents that peers have told of. */
  readonly remoteAgents: RemoteAgents;
  /** When a peer was last asked for the succession of its key, and what came of it, by relay id. */
  readonly keyLookups: Map<
    string,
    { readonly at: number; readonly answer: Promise<FederationPeerRow | undefined> }
  >;
  /** Peers that let the time for an answer pass, by relay id: nobody waits for them. */
  readonly unresponsivePeers: Set<string>;
  readonly schedule: RetrySchedule;
  /** By how much the books of a peer differ from those here, in micro-units by relay id. */
  readonly positionDifferences: Map<string, number>;
  /** Its lines say that they are of the federation. */
  readonly log: Log;
  /** Tasks that no peer would take yet, by id; tried again with the heartbeats. */
  readonly undeliveredTasks: Set<string>;
  /** The time to sign a notice with: it only grows. */
  readonly nextNoticeTime: () => number;
  /** Has what is due looked for at once; without it the next tick does. */
  readonly wake: () => void;
  /** Says who looks. */
  readonly onWake: (look: () => void) => void;
}
