import { ReplayCache } from "@agent/federation-protocol";
import { createRetrySchedule, type RetrySchedule } from "@agent/federation-protocol/delivery";
import type { PendingPeer } from "@agent/federation-protocol/peering";
import { FEDERATION_LIMITS } from "@agent/federation-protocol";
import type { Config } from "../config.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { createRemoteAgents, type RemoteAgents } from "./discovery/remote-agents.ts";

/** What a relay that federates keeps in memory; what must survive a restart is in the database. */
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

/** What dealing with other relays takes of a relay. */
export type FederationDependencies = Pick<
  Services,
  | "config"
  | "runtime"
  | "log"
  | "storage"
  | "freezer"
  | "identity"
  | "connections"
  | "waiters"
  | "subscriptions"
  | "egress"
  | "trustGraph"
>;

/** The parts of a relay that federates. */
export type FederationServices = FederationDependencies & { readonly federation: Federation };

/** Undefined while federation is off. */
export function createFederation(
  { endpointUrl, retryScale }: Config["federation"],
  runtime: Pick<Runtime, "now">,
  log: Log,
): Federation | undefined {
  if (endpointUrl === undefined) return undefined;
  let lastNotice = 0;
  let wakeListener = () => {};
  return {
    endpointUrl,
    // A signed time may be as far ahead as behind.
    seenSignatures: new ReplayCache(2 * FEDERATION_LIMITS.maxTimestampAgeMs),
    seenQueries: new ReplayCache(FEDERATION_LIMITS.queryLifetimeMs),
    pendingPeers: new Map(),
    undeliveredTasks: new Set(),
    remoteAgents: createRemoteAgents(runtime.now),
    unresponsivePeers: new Set(),
    keyLookups: new Map(),
    positionDifferences: new Map(),
    schedule: createRetrySchedule(retryScale),
    log: log.child({ service: "federation" }),
    nextNoticeTime() {
      lastNotice = Math.max(runtime.now(), lastNotice + 1);
      return lastNotice;
    },
    wake: () => wakeListener(),
    onWake(listener) {
      wakeListener = listener;
    },
  };
}
