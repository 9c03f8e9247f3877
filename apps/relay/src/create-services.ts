import { createJobMonitor } from "./admin/job-monitor.ts";
import { createMetrics } from "./observability/metrics.ts";
import { createReconciler } from "./admin/reconciler.ts";
import { createFederation } from "./federation/create-federation.ts";
import { createEgress } from "./http/egress/egress.ts";
import { recordProofByToken } from "./agents/keys/record-proof-by-signature.ts";
import { createOperatorTokens } from "./identity/operator-tokens.ts";
import { createTokenVerifier, type TokenVerifier } from "./identity/tokens.ts";
import { createFacilitator } from "./payments/x402/x402-facilitator.ts";
import { createPresences, noPresences, type Presences } from "./processes/presences.ts";
import { createConnections, type Connections } from "./realtime/connections.ts";
import { createKeptCandidates } from "./routing/candidates/kept-candidates.ts";
import { loadTrustGraph } from "./routing/trust-graph.ts";
import type { Services } from "./services.ts";
import type { Storage } from "./storage/storage.ts";
import { createConsoleSessions } from "./sessions/console-sessions.ts";
import { createStreamSlots } from "./tasks/reading/stream-slots.ts";
import { createTaskWaiters } from "./tasks/waiters.ts";
import { createWebhookLanes } from "./webhooks/webhook-lanes.ts";
import { loadSubscriptions } from "./webhooks/subscriptions.ts";
import { createLogWitnesses } from "./witness/log-witnesses.ts";
import { createWitness } from "./witness/witness.ts";

type CoreServices = Pick<
  Services,
  | "config"
  | "runtime"
  | "log"
  | "clock"
  | "freezer"
  | "identity"
  | "storage"
  | "writes"
  | "storageCheck"
  | "relayLog"
  | "processes"
>;

/** Adds the parts of a relay that need nothing but its configuration, clock and opened database. */
export async function createServices(
  core: CoreServices,
  raw: Storage,
): Promise<Omit<Services, "router"> & { readonly presences: Presences }> {
  const { config, runtime, log, clock, freezer, identity, storage, processes } = core;
  const connections: Connections = createConnections(() => presences);
  // Devices may connect to a frozen relay as well.
  const presences = storage.isShared
    ? createPresences({ storage: raw, runtime, processes, connections, log })
    : noPresences;
  const tokens: TokenVerifier = createTokenVerifier({
    read: storage.read,
    audience: identity.did,
    now: runtime.now,
    mayCache: () => processes.isUpToDate(),
    recordProof: (key, caller) =>
      recordProofByToken({ storage, freezer, runtime, tokens, connections }, key, caller),
  });
  const operatorTokens = createOperatorTokens(config.apiTokens);
  const trustGraph = await loadTrustGraph(storage.read);
  const metrics = createMetrics(storage.isShared ? config.storage.processName : undefined);
  const egress = createEgress({
    privateEndpoints: config.agents.privateEndpoints,
    baseUrl: config.server.baseUrl,
    schedule: runtime.schedule,
    randomBytes: runtime.randomBytes,
  });
  const logWitnesses = createLogWitnesses({ ...core, egress });
  const witness = createWitness(core, metrics);
  // A restored database begins another generation of both when it is unfrozen.
  if (freezer.frozen()?.restored !== true) {
    await logWitnesses.checkStart();
    await witness?.checkStart();
  }
  return {
    ...core,
    metrics,
    logWitnesses,
    witness,
    jobMonitor: createJobMonitor(clock.elapsed),
    reconciler: createReconciler({ freezer, runtime, elapsed: clock.elapsed, log }),
    tokens,
    operatorTokens,
    consoleSessions: createConsoleSessions({ ...core, operatorTokens }),
    connections,
    remoteDevices: presences,
    presences,
    waiters: createTaskWaiters(runtime.schedule, (taskId) => storage.hints.sendTask(taskId)),
    streamSlots: createStreamSlots(),
    subscriptions: await loadSubscriptions(storage.read),
    webhookLanes: createWebhookLanes(log, clock.elapsed),
    egress,
    facilitator: createFacilitator(config.payments, log),
    trustGraph,
    candidates: createKeptCandidates({ storage, runtime, connections, trustGraph }),
    federation: createFederation(config.federation, runtime, { storage, log }),
  };
}
