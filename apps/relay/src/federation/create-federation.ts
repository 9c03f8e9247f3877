import { BoundedMap } from "@agent/crypto";
import { FEDERATION_LIMITS, ReplayCache } from "@agent/federation-protocol";
import { createRetrySchedule } from "@agent/federation-protocol/delivery";
import { limits } from "@agent/wire";
import type { Config } from "../config.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import { createRemoteAgents } from "./discovery/remote-agents.ts";
import type { Federation } from "./federation.ts";

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
    // A signed time may be as far ahead as behind.
    seenSignatures: new ReplayCache(2 * FEDERATION_LIMITS.maxTimestampAgeMs),
    seenQueries: new ReplayCache(FEDERATION_LIMITS.queryLifetimeMs),
    pendingPeers: new BoundedMap(limits.federationProposals),
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
