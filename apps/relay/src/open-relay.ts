import { loadFreezer, type Freezer } from "./admin/freeze.ts";
import type { RequestMetrics } from "./observability/metrics.ts";
import { checkDatabaseOrigin } from "./admin/restore/check-origin.ts";
import { reportRestore } from "./admin/restore/report-restore.ts";
import { createStorageCheck } from "./admin/storage-check.ts";
import { createRelay, type Relay } from "./app.ts";
import { resumeClock } from "./clock/resume-clock.ts";
import { createTrustedClock } from "./clock/relay-clock.ts";
import type { Config } from "./config/config.ts";
import { createServices } from "./create-services.ts";
import { startFederationWork } from "./federation/federation-work.ts";
import { extendInspections } from "./inspections/extend-deadlines.ts";
import { reportShortWindows } from "./inspections/report-short-windows.ts";
import type { Log } from "./observability/log.ts";
import { loadRelayIdentity } from "./identity/relay-identity.ts";
import type { OperatorTokens } from "./identity/operator-tokens.ts";
import type { RelayLog } from "./log/heads/relay-log.ts";
import { startLog } from "./log/start-log.ts";
import { createChangeHandlers } from "./processes/change-handlers.ts";
import { joinProcesses, MAX_CLOCK_SKEW_MS } from "./processes/join.ts";
import { createKeepUp, createNoKeepUp, type KeepUp } from "./processes/keep-up.ts";
import { createSoleMembership, type Membership } from "./processes/membership.ts";
import type { Presences } from "./processes/presences.ts";
import { beginTail, createChangeTail, type TailStart } from "./processes/tail-changes.ts";
import { createRouter } from "./delivery/create-router.ts";
import type { Runtime } from "./runtime.ts";
import type { Services } from "./services.ts";
import { migrations } from "./storage/migrations/index.ts";
import { openStorage, type DatabaseLocation } from "./storage/open-storage.ts";
import type { Storage } from "./storage/storage.ts";
import { watchWrites } from "./storage/watch-writes.ts";
import { moveOldEvents } from "./tasks/events/move-old-events.ts";
import type { ConsoleSessions } from "./sessions/console-sessions.ts";
import { applyTrustThresholds } from "./trust/backing/rebuild-backing.ts";
import { reportTrustBasis } from "./trust/trust-basis.ts";

export interface OpenRelay extends Relay {
  readonly ok: true;
  readonly relayId: string;
  readonly metrics: RequestMetrics["registry"];
  readonly operatorTokens: OperatorTokens;
  readonly freezer: Pick<Freezer, "frozen">;
  readonly consoleSessions: Pick<ConsoleSessions, "createCode">;
  readonly transparencyLog: RelayLog & { readonly intervalMs: number };
  /** Keeps this process up to date with those that share its database. */
  readonly keepUp: KeepUp;
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
  return { path, url, poolSize, listenUrl: storage.databaseListenUrl };
}

/** Builds a relay from a configuration, a runtime and a log; only the listening socket is missing. */
export async function openRelay(
  config: Config,
  runtime: Runtime,
  rootLog: Log,
  openDatabase = openStorage,
): Promise<OpenRelay | StartRefusal> {
  const opened = await openOwnDatabase({ config, runtime }, openDatabase);
  if (!opened.ok) return opened;
  const joined = await join(opened.storage, { config, runtime, log: rootLog });
  if (!joined.ok) {
    await opened.storage.close();
    return joined;
  }
  const { processes, log } = joined;
  const clock = runtime.clock ?? createTrustedClock(runtime.now);
  await resumeClock(clock, opened.storage.read, log);
  const freezer = await loadFreezer(opened.storage, runtime);
  const { storage } = freezer;
  const loaded = await loadRelayIdentity(opened.storage, runtime, config.identity.keyPassphrase);
  if (!loaded.ok) {
    await processes.leave();
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
    processes,
  });
  if (!startedLog.ok) {
    await processes.leave();
    await storage.close();
    return startedLog;
  }
  const { relayLog } = startedLog;
  await applySettings(opened.storage, config, log);
  // While the relay is frozen its deadlines stand still; while another process leads it can be reached.
  const hasPaused = freezer.frozen() === undefined && processes.isLeader();
  if (hasPaused) await extendInspections(opened.storage, runtime.now());
  const storageCheck = createStorageCheck({ ...opened, freezer, runtime, log });
  const opening = { config, runtime, log, clock, freezer, identity, storage, processes };
  const core = { ...opening, writes: opened.writes, storageCheck, relayLog };
  const tailStart = await beginTail(storage.read);
  const { presences, ...baseServices } = await createServices(core, opened.storage);
  const { egress, reconciler } = baseServices;
  const router = createRouter(baseServices);
  const services = { ...baseServices, router };
  const federationWork = startFederationWork(services);
  const keepUp = await createKeepUpWith(services, { presences, tailStart });
  const relay = createRelay(services, { federationWork, keepUp });
  await reportRestore(services);
  return {
    ok: true,
    ...relay,
    keepUp,
    relayId: identity.relayId,
    metrics: services.metrics.registry,
    operatorTokens: services.operatorTokens,
    freezer,
    consoleSessions: services.consoleSessions,
    transparencyLog: { ...logFailures(relayLog, log), intervalMs: config.log.intervalMs },
    checkStorage: storageCheck.start,
    async close() {
      await relay.drain();
      reconciler.stop();
      await storageCheck.stop();
      await router.close();
      await egress.close();
      await relay.idle();
      await keepUp.leave();
      await storage.close();
    },
  };
}

/** Opens the database, unless it is a restored copy that the operator has not declared. */
async function openOwnDatabase(
  { config, runtime }: Pick<Services, "config" | "runtime">,
  openDatabase: typeof openStorage,
) {
  const location = getDatabaseLocation(config);
  const opened = await openDatabase({ ...location, migrations, shared: runtime });
  if (!opened.ok) return opened;
  const origin = await checkDatabaseOrigin(opened.storage);
  if (origin.ok) return { ...opened, ...watchWrites(opened.storage) };
  await opened.storage.close();
  return origin;
}

/** Brings the rows in line with the settings, and warns of settings that are for tests. */
async function applySettings(storage: Storage, config: Config, log: Log): Promise<void> {
  await moveOldEvents(storage);
  await applyTrustThresholds(storage, config.trust.thresholds);
  reportTrustBasis(config, log);
  reportShortWindows(config, log);
}

/** Without the database a round fails, and the next one does what it could not. */
function logFailures(relayLog: RelayLog, log: Log): RelayLog {
  return {
    ...relayLog,
    integrate: () =>
      relayLog.integrate().catch((error: unknown) => {
        log.error("log.integrate_failed", { error: String(error) });
      }),
  };
}

type JoinResult =
  | { readonly ok: true; readonly processes: Membership; readonly log: Log }
  | StartRefusal;

/** Adds the process to those that share the database; one without others is alone. */
async function join(
  storage: Storage,
  {
    config,
    runtime,
    log,
  }: { readonly config: Config; readonly runtime: Runtime; readonly log: Log },
): Promise<JoinResult> {
  const { processName: name = "relay" } = config.storage;
  if (!storage.isShared) return { ok: true, processes: createSoleMembership(name), log };
  const named = log.child({ process: name });
  const processes = await joinProcesses({ storage, runtime, name, log: named });
  const skew = processes.clockSkew();
  if (skew > MAX_CLOCK_SKEW_MS) {
    await processes.leave();
    const detail = `the clock of this machine differs from the database's by ${skew} ms`;
    return { ok: false, code: "clock.skewed", detail };
  }
  return { ok: true, processes, log: named };
}

/** Begins to follow the other processes; what they changed since `tailStart` is read in the first round. */
async function createKeepUpWith(
  services: Services,
  { presences, tailStart }: { readonly presences: Presences; readonly tailStart: TailStart },
): Promise<KeepUp> {
  if (!services.processes.isShared) return createNoKeepUp();
  const tail = createChangeTail({
    storage: services.storage,
    elapsed: services.runtime.monotonic ?? (() => 0),
    start: tailStart,
    handlers: createChangeHandlers(services, presences),
  });
  await presences.load();
  return createKeepUp(services, { tail, presences });
}
