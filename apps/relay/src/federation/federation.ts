import {
  OnceWithin,
  retrySchedule,
  type PendingPeer,
  type RetrySchedule,
} from "@agent/federation-protocol";
import { FEDERATION_LIMITS } from "@agent/federation-protocol";
import type { Config } from "../config.ts";
import type { Log } from "../http/log.ts";
import type { Runtime } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { createRemoteAgents, type RemoteAgents } from "./remote-agents.ts";

/** What a relay that federates keeps in memory; what must survive a restart is in the database. */
export interface Federation {
  readonly endpointUrl: string;
  /** Signatures that open a door once. */
  readonly signatures: OnceWithin;
  /** Queries that were answered. */
  readonly queries: OnceWithin;
  /** Proposals that wait for their confirmation, by relay id. */
  readonly pending: Map<string, PendingPeer>;
  /** Agents that peers have told of. */
  readonly remote: RemoteAgents;
  /** When a peer was last asked for the succession of its key, and what came of it, by relay id. */
  readonly keyQuestions: Map<
    string,
    { readonly at: number; readonly answer: Promise<FederationPeerRow | undefined> }
  >;
  /** Peers that let the time for an answer pass, by relay id: nobody waits for them. */
  readonly silent: Set<string>;
  readonly schedule: RetrySchedule;
  /** By how much the books of a peer differ from those here, in micro-units by relay id. */
  readonly differences: Map<string, number>;
  /** Its lines say that they are of the federation. */
  readonly log: Log;
  /** Tasks that no peer would take yet, by id; tried again with the heartbeats. */
  readonly untaken: Set<string>;
  /** The time to sign a notice with: it only grows. */
  readonly noticeTime: () => number;
  /** Has what is due looked for at once; without it the next tick does. */
  readonly wake: () => void;
  /** Says who looks. */
  readonly onWake: (look: () => void) => void;
}

/** What dealing with other relays takes of a relay. */
export type FederatingParts = Pick<
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
export type FederationServices = FederatingParts & { readonly federation: Federation };

/** Undefined while federation is off. */
export function createFederation(
  { endpointUrl, retryScale }: Config["federation"],
  runtime: Pick<Runtime, "now">,
  log: Log,
): Federation | undefined {
  if (endpointUrl === undefined) return undefined;
  let lastNotice = 0;
  let look = () => {};
  return {
    endpointUrl,
    // A signed time may be as far ahead as behind.
    signatures: new OnceWithin(2 * FEDERATION_LIMITS.timestampAgeMs),
    queries: new OnceWithin(FEDERATION_LIMITS.queryMemoryMs),
    pending: new Map(),
    untaken: new Set(),
    remote: createRemoteAgents(runtime.now),
    silent: new Set(),
    keyQuestions: new Map(),
    differences: new Map(),
    schedule: retrySchedule(retryScale),
    log: log.child({ service: "federation" }),
    noticeTime() {
      lastNotice = Math.max(runtime.now(), lastNotice + 1);
      return lastNotice;
    },
    wake: () => look(),
    onWake(listener) {
      look = listener;
    },
  };
}
