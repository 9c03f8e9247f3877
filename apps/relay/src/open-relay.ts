import { loadFreezer, type Freezer } from "./admin/freeze.ts";
import { createJobMonitor } from "./admin/job-monitor.ts";
import { createMetrics, type RequestMetrics } from "./observability/metrics.ts";
import { createReconciler } from "./admin/reconciler.ts";
import { checkDatabaseOrigin } from "./admin/restore/check-origin.ts";
import { reportRestore } from "./admin/restore/report-restore.ts";
import { createStorageCheck } from "./admin/storage-check.ts";
import { createRelay, type Relay } from "./app.ts";
import { resumeClock } from "./clock/resume-clock.ts";
import { createTrustedClock } from "./clock/relay-clock.ts";
import type { Config } from "./config.ts";
import { createFederation } from "./federation/create-federation.ts";
import { startFederationWork } from "./federation/worker.ts";
import { createEgress } from "./http/egress/egress.ts";
import { extendInspections } from "./inspections/extend-deadlines.ts";
import { reportShortWindows } from "./inspections/report-short-windows.ts";
import type { Log } from "./observability/log.ts";
import { loadRelayIdentity } from "./identity/relay-identity.ts";
import { recordProofByToken } from "./agents/keys/record-proof-by-signature.ts";
import { createOperatorTokens, type OperatorTokens } from "./identity/operator-tokens.ts";
import { createTokenVerifier, type TokenVerifier } from "./identity/tokens.ts";
import type { RelayLog } from "./log/heads/relay-log.ts";
import { startLog } from "./log/start-log.ts";
import { createFacilitator } from "./payments/x402/x402-facilitator.ts";
import { createConnections } from "./realtime/connections.ts";
import { createRouter } from "./delivery/create-router.ts";
import { createKeptCandidates } from "./routing/candidates/kept-candidates.ts";
import { loadTrustGraph } from "./routing/trust-graph.ts";
import type { Runtime } from "./runtime.ts";
import type { Services } from "./services.ts";
import { migrations } from "./storage/migrations/index.ts";
import { openStorage, type DatabaseLocation } from "./storage/open-storage.ts";
import { moveOldEvents } from "./tasks/events/move-old-events.ts";
import { createConsoleSessions, type ConsoleSessions } from "./sessions/console-sessions.ts";
import { createStreamSlots } from "./tasks/reading/stream-slots.ts";
import { createTaskWaiters } from "./tasks/waiters.ts";
import { applyTrustThresholds } from "./trust/backing/rebuild-backing.ts";
import { reportTrustBasis } from "./trust/trust-basis.ts";
import { createWebhookLanes } from "./webhooks/webhook-lanes.ts";
import { loadSubscriptions } from "./webhooks/subscriptions.ts";
import { createLogWitnesses } from "./witness/log-witnesses.ts";
import { createWitness } from "./witness/witness.ts";

export interface OpenRelay extends Relay {
  readonly ok: true;
  readonly relayId: string;
  readonly metrics: RequestMetrics["registry"];
  readonly operatorTokens: OperatorTokens;
  readonly freezer: Pick<Freezer, "frozen">;
  readonly consoleSessions: Pick<ConsoleSessions, "createCode">;
  readonly transparencyLog: RelayLog & { readonly intervalMs: number };
  /** Begins to read the whole file of the database, behind the running relay. */
  checkStorage(): void;
  /** Finishes accepted work and closes the database. */
  close(): Promise<void>;
}

/** The reason why a relay does not start. Nothing was changed. */
export interface StartRefusal {
  readonly ok: false;
  readonly code: string;
  readonly detail: string;
}

function getDatabaseLocation({ storage }: Config): DatabaseLocation {
  const { databasePath: path, databaseUrl: url, databasePool: poolSize } = storage;
  return { path, url, poolSize };
}

/** Builds a relay from a configuration, a runtime and a log; only the listening socket is missing. */
export async function openRelay(
  config: Config,
  runtime: Runtime,
  log: Log,
  openDatabase = openStorage,
): Promise<OpenRelay | StartRefusal> {
  const opened = await openDatabase({ ...getDatabaseLocation(config), migrations });
  if (!opened.ok) return opened;
  const origin = await checkDatabaseOrigin(opened.storage);
  if (!origin.ok) {
    await opened.storage.close();
    return origin;
  }
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
  const startedLog = await startLog(opened.storage, {
    storage,
    freezer,
    config,
    identity,
    runtime,
    elapsed: clock.elapsed,
    log,
  });
  if (!startedLog.ok) {
    await storage.close();
    return startedLog;
  }
  const { relayLog } = startedLog;
  await moveOldEvents(opened.storage);
  await applyTrustThresholds(opened.storage, config.trust.thresholds);
  reportTrustBasis(config, log);
  reportShortWindows(config, log);
  // While the relay is frozen its deadlines stand still.
  if (freezer.frozen() === undefined) await extendInspections(opened.storage, runtime.now());
  const storageCheck = createStorageCheck({ ...opened, freezer, runtime, log });
  const core = { config, runtime, log, clock, freezer, identity, storage, storageCheck, relayLog };
  const baseServices = await createServices(core);
  const { egress, reconciler } = baseServices;
  const router = createRouter(baseServices);
  const services = { ...baseServices, router };
  const federationWork = startFederationWork(services);
  const relay = createRelay(services, federationWork);
  await reportRestore(services);
  return {
    ok: true,
    ...relay,
    relayId: identity.relayId,
    metrics: services.metrics.registry,
    operatorTokens: services.operatorTokens,
    freezer,
    consoleSessions: services.consoleSessions,
    transparencyLog: {
      ...relayLog,
      intervalMs: config.log.intervalMs,
      // Without the database the next round does what this one could not.
      integrate: () =>
        relayLog.integrate().catch((error: unknown) => {
          log.error("log.integrate_failed", { error: String(error) });
        }),
    },
    checkStorage: storageCheck.start,
    async close() {
      relay.drain();
      reconciler.stop();
      await storageCheck.stop();
      await router.close();
      await egress.close();
      await Promise.all([federationWork?.idle(), relay.idle()]);
      await storage.close();
    },
  };
}

type CoreServices = Pick<
  Services,
  | "config"
  | "runtime"
  | "log"
  | "clock"
  | "freezer"
  | "identity"
  | "storage"
  | "storageCheck"
  | "relayLog"
>;

/** Adds the parts of a relay that need nothing but its configuration, clock and opened database. */
async function createServices(core: CoreServices): Promise<Omit<Services, "router">> {
  const { config, runtime, log, clock, freezer, identity, storage } = core;
  const connections = createConnections();
  const tokens: TokenVerifier = createTokenVerifier({
    read: storage.read,
    audience: identity.did,
    now: runtime.now,
    recordProof: (key, caller) =>
      recordProofByToken({ storage, freezer, runtime, tokens, connections }, key, caller),
  });
  const operatorTokens = createOperatorTokens(config.apiTokens);
  const trustGraph = await loadTrustGraph(storage.read);
  const metrics = createMetrics();
  const egress = createEgress({
    privateEndpoints: config.agents.privateEndpoints,
    baseUrl: config.server.baseUrl,
    schedule: runtime.schedule,
    randomBytes: runtime.randomBytes,
  });
  const logWitnesses = createLogWitnesses({ ...core, egress });
  if (freezer.frozen()?.restored !== true) await logWitnesses.checkStart();
  return {
    ...core,
    metrics,
    logWitnesses,
    witness: createWitness(core, metrics),
    jobMonitor: createJobMonitor(clock.elapsed),
    reconciler: createReconciler({ freezer, runtime, elapsed: clock.elapsed, log }),
    tokens,
    operatorTokens,
    consoleSessions: createConsoleSessions({ ...core, operatorTokens }),
    connections,
    waiters: createTaskWaiters(runtime.schedule),
    streamSlots: createStreamSlots(),
    subscriptions: await loadSubscriptions(storage.read),
    webhookLanes: createWebhookLanes(log),
    egress,
    facilitator: createFacilitator(config.payments, log),
    trustGraph,
    candidates: createKeptCandidates({ storage, runtime, connections, trustGraph }),
    federation: createFederation(config.federation, runtime, log),
  };
}
