import { FEDERATION_LIMITS, ReplayCache } from "@agent/federation-protocol";
import { createRetrySchedule } from "@agent/federation-protocol/delivery";
import type { Config } from "../config/config.ts";
import { createRateLimiter } from "../http/limits/rate-limit.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import { createRemoteAgents } from "./discovery/remote-agents.ts";
import { createSharedOnce } from "../processes/seen-once.ts";
import { takeNextTime } from "../processes/seen-store.ts";
import type { Storage } from "../storage/storage.ts";
import type { AgreedState, Federation } from "./federation.ts";
import { createSharedPendingPeers } from "./peering/pending-peer-store.ts";
import { createPendingPeers } from "./peering/pending-peers.ts";

/** A signed time may be as far ahead as behind. */
const SIGNATURE_LIFETIME_MS = 2 * FEDERATION_LIMITS.maxTimestampAgeMs;
const QUERY_LIFETIME_MS = FEDERATION_LIMITS.queryLifetimeMs;
/** More than the queries per minute to the maximum number of peers. */
const MAX_QUERIES = 100_000;

/** Returns undefined while federation is off. */
export function createFederation(
  { endpointUrl, retryScale }: Config["federation"],
  runtime: Pick<Runtime, "now">,
  { storage, log }: { readonly storage: Storage; readonly log: Log },
): Federation | undefined {
  if (endpointUrl === undefined) return undefined;
  let wakeListener = () => {};
  return {
    endpointUrl,
    ...(storage.isShared ? createSharedState(storage, runtime) : createOwnState(runtime)),
    undeliveredTasks: new Set(),
    remoteAgents: createRemoteAgents(runtime.now),
    unresponsivePeers: new Set(),
    // The rate that a peer accepts does not depend on the scale of this relay's own limits.
    queryLimiter: createRateLimiter({ scale: 1, now: runtime.now, maxEntries: MAX_QUERIES }),
    keyLookups: new Map(),
    positionDifferences: new Map(),
    schedule: createRetrySchedule(retryScale),
    log: log.child({ service: "federation" }),
    wake: () => wakeListener(),
    onWake(listener) {
      wakeListener = listener;
    },
  };
}

function createOwnState({ now }: Pick<Runtime, "now">): AgreedState {
  let lastNotice = 0;
  return {
    seenSignatures: new ReplayCache(SIGNATURE_LIFETIME_MS),
    seenQueries: new ReplayCache(QUERY_LIFETIME_MS),
    pendingPeers: createPendingPeers(),
    nextNoticeTime() {
      lastNotice = Math.max(now(), lastNotice + 1);
      return lastNotice;
    },
  };
}

function createSharedState(storage: Storage, { now }: Pick<Runtime, "now">): AgreedState {
  const shareOnce = (kind: string, lifetimeMs: number) =>
    createSharedOnce(storage, { kind, lifetimeMs });
  return {
    seenSignatures: shareOnce("signature", SIGNATURE_LIFETIME_MS),
    seenQueries: shareOnce("query", QUERY_LIFETIME_MS),
    pendingPeers: createSharedPendingPeers(storage),
    nextNoticeTime: () => takeNextTime(storage, { kind: "notice", key: "", now: now() }),
  };
}
