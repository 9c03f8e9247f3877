import { loadFreezer } from "./admin/freeze.ts";
import { createJobMonitor } from "./admin/job-monitor.ts";
import { createMetrics, type RequestMetrics } from "./observability/metrics.ts";
import { createReconciler } from "./admin/reconciler.ts";
import { reportRestore } from "./admin/report-restore.ts";
import { createRelay, type Relay } from "./app.ts";
import { resumeClock } from "./clock/resume-clock.ts";
import { createTrustedClock } from "./clock/relay-clock.ts";
import type { Config } from "./config.ts";
import { createFederation } from "./federation/create-federation.ts";
import { startFederationWork } from "./federation/worker.ts";
import { createEgress } from "./http/egress/egress.ts";
import type { Log } from "./observability/log.ts";
import { loadRelayIdentity } from "./identity/relay-identity.ts";
import { recordProofByToken } from "./agents/keys/record-proof-by-signature.ts";
import { createOperatorTokens, type OperatorTokens } from "./identity/operator-tokens.ts";
import { createTokenVerifier, type TokenVerifier } from "./identity/tokens.ts";
import { createFacilitator } from "./payments/x402/x402-facilitator.ts";
import { createConnections } from "./realtime/connections.ts";
import { createRouter } from "./delivery/create-router.ts";
import { loadTrustGraph } from "./routing/trust-graph.ts";
import type { Runtime } from "./runtime.ts";
import { migrations } from "./storage/migrations/index.ts";
import { openStorage } from "./storage/open-storage.ts";
import { createTaskWaiters } from "./tasks/waiters.ts";
import { loadSubscriptions } from "./webhooks/subscriptions.ts";

export interface OpenRelay extends Relay {
  readonly ok: true;
  readonly relayId: string;
  readonly metrics: RequestMetrics["registry"];
  readonly operatorTokens: OperatorTokens;
  /** Finishes accepted work and closes the database. */
  close(): Promise<void>;
}

/** The reason why a relay does not start. Nothing was changed. */
export interface StartRefusal {
  readonly ok: false;
  readonly code: string;
  readonly detail: string;
}

/** Builds a relay from a configuration, a runtime and a log; only the listening socket is missing. */
export async function openRelay(
  config: Config,
  runtime: Runtime,
  log: Log,
  openDatabase = openStorage,
): Promise<OpenRelay | StartRefusal> {
  const opened = await openDatabase({ path: config.storage.databasePath, migrations });
  if (!opened.ok) return opened;
  const clock = runtime.clock ?? createTrustedClock(runtime.now);
  await resumeClock(clock, opened.storage.read, log);
  const freezer = await loadFreezer(opened.storage, runtime);
  const { storage } = freezer;
  const loaded = await loadRelayIdentity(opened.storage, runtime, config.identity.keyPassphrase);
  if (!loaded.ok) {
    await storage.close();
    return loaded;
  }
  const { identity } = loaded;
  const egress = createEgress({
    privateEndpoints: config.agents.privateEndpoints,
    baseUrl: config.server.baseUrl,
    schedule: runtime.schedule,
    randomBytes: runtime.randomBytes,
  });
  const connections = createConnections();
  const tokens: TokenVerifier = createTokenVerifier({
    read: storage.read,
    audience: identity.did,
    now: runtime.now,
    recordProof: (key, caller) =>
      recordProofByToken({ storage, freezer, runtime, tokens, connections }, key, caller),
  });
  const reconciler = createReconciler({ freezer, runtime, elapsed: clock.elapsed, log });
  const baseServices = {
    config,
    runtime,
    clock,
    log,
    metrics: createMetrics(),
    jobMonitor: createJobMonitor(clock.elapsed),
    storage,
    freezer,
    reconciler,
    identity,
    tokens,
    operatorTokens: createOperatorTokens(config.apiTokens),
    connections,
    waiters: createTaskWaiters(runtime.schedule),
    subscriptions: await loadSubscriptions(storage.read),
    egress,
    facilitator: createFacilitator(config.payments, log),
    trustGraph: await loadTrustGraph(storage.read),
    federation: createFederation(config.federation, runtime, log),
  };
  const router = createRouter(baseServices);
  const services = { ...baseServices, router };
  const federationWork = startFederationWork(services);
  const relay = createRelay(services, federationWork);
  await reportRestore(services);
  return {
    ok: true,
    ...relay,
    relayId: identity.relayId,
    metrics: baseServices.metrics.registry,
    operatorTokens: baseServices.operatorTokens,
    async close() {
      relay.drain();
      reconciler.stop();
      await router.close();
      await egress.close();
      await federationWork?.idle();
      await relay.idle();
      await storage.close();
    },
  };
}
