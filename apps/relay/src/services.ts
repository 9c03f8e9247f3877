import type { Membership } from "./processes/membership.ts";
import type { RemoteDevices } from "./processes/presences.ts";
import type { Freezer } from "./admin/freeze.ts";
import type { JobMonitor } from "./admin/job-monitor.ts";
import type { Reconciler } from "./admin/reconciler.ts";
import type { StorageCheck } from "./admin/storage-check.ts";
import type { RequestMetrics } from "./observability/metrics.ts";
import type { RelayClock } from "./clock/relay-clock.ts";
import type { Config } from "./config/config.ts";
import type { Federation } from "./federation/federation.ts";
import type { Egress } from "./http/egress/egress.ts";
import type { Log } from "./observability/log.ts";
import type { RelayIdentity } from "./identity/relay-identity.ts";
import type { OperatorTokens } from "./identity/operator-tokens.ts";
import type { TokenVerifier } from "./identity/tokens.ts";
import type { RelayLog } from "./log/heads/relay-log.ts";
import type { Connections } from "./realtime/connections.ts";
import type { Facilitator } from "./payments/x402/x402-facilitator.ts";
import type { Router } from "./delivery/router.ts";
import type { KeptCandidates } from "./routing/candidates/kept-candidates.ts";
import type { TrustGraph } from "./routing/trust-graph.ts";
import type { Runtime } from "./runtime.ts";
import type { ConsoleSessions } from "./sessions/console-sessions.ts";
import type { Storage } from "./storage/storage.ts";
import type { WriteWatch } from "./storage/watch-writes.ts";
import type { Subscriptions } from "./webhooks/subscriptions.ts";
import type { WebhookLanes } from "./webhooks/webhook-lanes.ts";
import type { StreamSlots } from "./tasks/reading/stream-slots.ts";
import type { TaskWaiters } from "./tasks/waiters.ts";
import type { LogWitnesses } from "./witness/log-witnesses.ts";
import type { Witness } from "./witness/witness.ts";

/** The parts of a running relay. Each function names the few that it needs with `Pick`. */
export interface Services {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly clock: RelayClock;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  readonly jobMonitor: JobMonitor;
  /** Refuses transactions while the relay is frozen. */
  readonly storage: Storage;
  /** Whether the database refused the last writes. */
  readonly writes: WriteWatch;
  readonly freezer: Freezer;
  readonly reconciler: Reconciler;
  readonly storageCheck: StorageCheck;
  readonly identity: RelayIdentity;
  /** The relay's own transparency log; `log` is the log of events. */
  readonly relayLog: RelayLog;
  readonly tokens: TokenVerifier;
  readonly operatorTokens: OperatorTokens;
  readonly consoleSessions: ConsoleSessions;
  readonly connections: Connections;
  /** The devices that are connected to other processes. */
  readonly remoteDevices: RemoteDevices;
  /** This process among those of the relay. */
  readonly processes: Membership;
  readonly waiters: TaskWaiters;
  readonly streamSlots: StreamSlots;
  readonly subscriptions: Subscriptions;
  /** Undefined while real payments are off. */
  readonly facilitator: Facilitator | undefined;
  readonly webhookLanes: WebhookLanes;
  readonly egress: Egress;
  readonly trustGraph: TrustGraph;
  readonly candidates: KeptCandidates;
  readonly router: Router;
  /** Undefined while federation is off. */
  readonly federation: Federation | undefined;
  /** The witnesses of the relay's own log. */
  readonly logWitnesses: LogWitnesses;
  /** Undefined while the relay cosigns no logs. */
  readonly witness: Witness | undefined;
}
