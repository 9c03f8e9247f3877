import {
  ReplayCache,
  createRetrySchedule,
  type PendingPeer,
  type RetrySchedule,
} from "@agent/federation-protocol";
import { FEDERATION_LIMITS } from "@agent/federation-protocol";
import type { Config } from "../config.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { createRemoteAgents, type RemoteAgents } from "./discovery/remote-agents.ts";

/**
 * The in-memory state of a federated relay; everything that must survive a restart is in the database.
 */
export interface Federation {
  readonly endpointUrl: string;
  /** Signatures that may be used once only. */
  readonly seenSignatures: ReplayCache;
  /** Queries that were answered already. */
  readonly seenQueries: ReplayCache;
  /** Proposals that await their confirmation, by relay id. */
  readonly pendingPeers: Map<string, PendingPeer>;
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

/** The services that federation depends on. */
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

/** The services of a federated relay. */
export type FederationServices = FederationDependencies & { readonly federation: Federation };

/** Returns undefined while federation is off. */
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
    // A signed time may be ahead by as much as behind.
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
