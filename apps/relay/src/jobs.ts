import { purgeShownOffers } from "./a2a/purge-offers.ts";
import { purgeArguments } from "./approvals/purge-arguments.ts";
import { recordTime } from "./clock/record-time.ts";
import { numberEvents } from "./feed/number-events.ts";
import { sampleMinute } from "./feed/sample-minute.ts";
import { purgeOldForwards, purgeUnusedPeers } from "./federation/retention.ts";
import type { FederationWork } from "./federation/federation-work.ts";
import { retryScrub } from "./identity/finish-scrub.ts";
import { purgeIdempotencyKeys } from "./http/server/idempotency.ts";
import { purgeSpentTokens } from "./identity/spend-token.ts";
import { expireInspections } from "./inspections/expire-inspections.ts";
import { LeadershipLost } from "./processes/membership.ts";
import { purgeEndedProcesses } from "./processes/purge-ended.ts";
import { purgePairings } from "./pairing/purge-pairings.ts";
import { connectFacilitator } from "./payments/x402/connect-facilitator.ts";
import { finishPayments } from "./payments/x402/x402-settle.ts";
import { purgeOldDecisions } from "./routing/decision.ts";
import type { Services } from "./services.ts";
import { expireTasks } from "./tasks/assignment/expire-tasks.ts";
import { expireLeases, renewLeases } from "./tasks/assignment/leases.ts";
import { deliverWebhooks } from "./webhooks/deliver-webhooks.ts";
import { purgeOldTasks } from "./tasks/retention.ts";

interface Job {
  readonly name: string;
  readonly everyMs: number;
  /**
   * The processes that run it: each for itself, each with the rows that it claims, or only the leader,
   * whose transactions fail once another process leads.
   */
  readonly who: "each" | "claims" | "leader";
  /** Only where the database may have several processes. */
  readonly ifShared?: true;
  /** The other jobs do not wait for it. */
  readonly runsDetached?: true;
  /** Also runs while the relay is frozen, because peers expect it; it then writes nothing. */
  readonly whileFrozen?: true;
  run(services: Services): Promise<void>;
}

const localJobs: readonly Job[] = [
  { name: "record-time", who: "leader", everyMs: 15_000, run: recordTime },
  { name: "scrub", who: "leader", everyMs: 15_000, run: retryScrub },
  {
    name: "route-waiting",
    who: "leader",
    everyMs: Infinity,
    run: ({ router }) => router.retryAllPending(),
  },
  { name: "expire-tasks", who: "leader", everyMs: 1_000, run: expireTasks },
  { name: "expire-inspections", who: "leader", everyMs: 1_000, run: expireInspections },
  { name: "renew-leases", who: "each", everyMs: 15_000, run: renewLeases },
  { name: "connect-facilitator", who: "each", everyMs: 30_000, run: connectFacilitator },
  {
    name: "finish-payments",
    who: "leader",
    everyMs: 30_000,
    runsDetached: true,
    run: finishPayments,
  },
  { name: "deliver-webhooks", who: "claims", everyMs: 1_000, run: deliverWebhooks },
  { name: "expire-leases", who: "leader", everyMs: 5_000, run: expireLeases },
  {
    name: "number-events",
    who: "leader",
    everyMs: 1_000,
    whileFrozen: true,
    run: numberEvents,
  },
  { name: "sample-minute", who: "leader", everyMs: 60_000, run: sampleMinute },
  { name: "purge-old-tasks", who: "leader", everyMs: 60_000, run: purgeOldTasks },
  { name: "purge-idempotency-keys", who: "leader", everyMs: 60_000, run: purgeIdempotencyKeys },
  { name: "purge-spent-tokens", who: "leader", everyMs: 60_000, run: purgeSpentTokens },
  { name: "purge-old-decisions", who: "leader", everyMs: 600_000, run: purgeOldDecisions },
  { name: "purge-old-pairings", who: "leader", everyMs: 60_000, run: purgePairings },
  { name: "purge-old-arguments", who: "leader", everyMs: 60_000, run: purgeArguments },
  {
    name: "reroute-waiting",
    who: "claims",
    ifShared: true,
    everyMs: 1_000,
    run: ({ router }) => router.rerouteWaiting(),
  },
  {
    name: "offer-unoffered",
    who: "each",
    ifShared: true,
    everyMs: 1_000,
    run: ({ router }) => router.sendUnsent(),
  },
  {
    name: "purge-ended-processes",
    who: "leader",
    ifShared: true,
    everyMs: 10_000,
    run: purgeEndedProcesses,
  },
  {
    name: "purge-shown-offers",
    who: "leader",
    ifShared: true,
    everyMs: 60_000,
    run: purgeShownOffers,
  },
];

const logJobs = ({ config }: Services): readonly Job[] => [
  {
    name: "integrate-log",
    // Only the leader signs; the others follow the state of the log.
    who: "each",
    // A shorter interval has its own timer, and each round of this job signs what the timer left.
    everyMs: config.log.intervalMs > 1_000 ? config.log.intervalMs : 0,
    run: ({ relayLog }) => relayLog.integrate(),
  },
  {
    name: "prune-log-heads",
    who: "leader",
    everyMs: 60_000,
    run: ({ relayLog }) => relayLog.prune(),
  },
];

const witnessJobs = ({ config, relayLog, federation }: Services): readonly Job[] => [
  ...(relayLog.isOn
    ? [
        {
          name: "ask-witnesses",
          who: "leader" as const,
          everyMs: config.witness.askIntervalMs,
          run: ({ logWitnesses }: Services) => logWitnesses.ask(),
        },
      ]
    : []),
  ...(federation !== undefined && (relayLog.isOn || config.witness.isOn)
    ? [
        {
          name: "read-log-statements",
          who: "leader" as const,
          everyMs: 1_000,
          runsDetached: true as const,
          run: ({ logWitnesses }: Services) => logWitnesses.readStatements(),
        },
      ]
    : []),
];

const reconcileJob = ({ config }: Services): Job => ({
  name: "reconcile",
  who: "leader",
  everyMs: config.books.reconcileIntervalMs,
  // A check of large books takes long.
  runsDetached: true,
  async run({ reconciler, storageCheck }) {
    // Reading all rows of a file that is not cached would hold up the first requests.
    const isWhole = await storageCheck.waitForEnd();
    if (isWhole) await reconciler.checkRecent();
  },
});

const federationJobs = ({ config }: Services, federationWork: FederationWork): readonly Job[] => [
  { name: "deliver-to-peers", who: "claims", everyMs: 0, run: () => federationWork.deliver() },
  {
    name: "heartbeat",
    who: "leader",
    everyMs: config.federation.heartbeatIntervalMs,
    whileFrozen: true,
    run: async () => federationWork.heartbeat(),
  },
  {
    name: "retry-undelivered",
    // Only the process that failed to deliver a task has it in memory.
    who: "each",
    everyMs: config.federation.heartbeatIntervalMs,
    whileFrozen: true,
    run: async () => federationWork.retryUndelivered(),
  },
  { name: "purge-old-forwards", who: "leader", everyMs: 60_000, run: purgeOldForwards },
  { name: "purge-unused-peers", who: "leader", everyMs: 3_600_000, run: purgeUnusedPeers },
];

/** Returns services whose transactions fail once another process leads. */
function fenceServices(services: Services): Services {
  const { processes, storage, freezer } = services;
  const always = processes.asLeader({ ...storage, transaction: freezer.writeAlways });
  return {
    ...services,
    storage: processes.asLeader(storage),
    freezer: { ...freezer, writeAlways: (work, isolation) => always.transaction(work, isolation) },
  };
}

/** The background jobs of a relay. */
export interface Jobs {
  /** Runs the due jobs and resolves when all but the detached ones are done. */
  tick(): Promise<void>;
  /** Resolves when no job runs. */
  idle(): Promise<void>;
}

/**
 * Runs every background job that is due. A failed job is logged and runs again when it is next due.
 * While the relay is frozen only jobs with `whileFrozen` run. Jobs that wait for other parties run detached.
 */
export function createJobs(services: Services, federationWork?: FederationWork): Jobs {
  const { processes, jobMonitor } = services;
  const jobs = [
    ...localJobs,
    ...(services.relayLog.isOn ? logJobs(services) : []),
    ...witnessJobs(services),
    reconcileJob(services),
    ...(federationWork === undefined ? [] : federationJobs(services, federationWork)),
  ].filter(({ ifShared = false }) => !ifShared || processes.isShared);
  const lastRun = new Map<string, number>();
  const running = new Map<string, Promise<void>>();

  async function runJob(job: Job): Promise<void> {
    try {
      await job.run(job.who === "leader" ? fenceServices(services) : services);
      jobMonitor.recordRun(job, true);
    } catch (error) {
      // Another process runs it from now on.
      if (error instanceof LeadershipLost) return;
      jobMonitor.recordRun(job, false);
      services.log.error("job.failed", { job: job.name, error: String(error) });
    }
  }

  return {
    async tick() {
      // It would write and sign wrong times. What the others do for it is claimed or led by them.
      if (!processes.hasSoundClock()) return;
      const isFrozen = services.freezer.frozen() !== undefined;
      const now = services.clock.elapsed();
      for (const job of jobs) {
        if (isFrozen && job.whileFrozen !== true) continue;
        const { name, everyMs } = job;
        if (job.who === "leader" && !processes.isLeader()) {
          lastRun.delete(name);
          jobMonitor.delete(name);
          continue;
        }
        if (now - (lastRun.get(name) ?? -Infinity) < everyMs || running.has(name)) continue;
        lastRun.set(name, now);
        const run = runJob(job);
        if (!job.runsDetached) await run;
        else
          running.set(
            name,
            run.finally(() => running.delete(name)),
          );
      }
    },
    async idle() {
      await Promise.all(running.values());
      await federationWork?.idle();
      await services.webhookLanes.idle();
      await services.logWitnesses.idle();
    },
  };
}
