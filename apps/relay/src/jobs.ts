import { recordTime } from "./clock/record-time.ts";
import { forgetOldForwards } from "./federation/retention.ts";
import type { FederationWork } from "./federation/work.ts";
import { forgetOldKeys } from "./http/idempotency.ts";
import { forgetSpentTokens } from "./identity/spend-token.ts";
import { forgetOldPairings } from "./pairing/forget-pairings.ts";
import { meetFacilitator } from "./payments/meet-facilitator.ts";
import { finishPayments } from "./payments/x402-settle.ts";
import { forgetOldDecisions } from "./routing/decision.ts";
import type { Services } from "./services.ts";
import { expireTasks } from "./tasks/expire.ts";
import { lapseLeases, renewLeases } from "./tasks/leases.ts";
import { deliverWebhooks } from "./webhooks/deliver.ts";
import { forgetEndedBudgets, forgetOldTasks } from "./tasks/retention.ts";

interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Nobody waits for it. */
  readonly asksOthers?: true;
  /** Writes nothing while the relay is frozen, and is expected by others even then. */
  readonly whileFrozen?: true;
  run(services: Services): Promise<void>;
}

const ownJobs: readonly Job[] = [
  { name: "record-time", everyMs: 15_000, run: recordTime },
  { name: "route-waiting", everyMs: Infinity, run: ({ router }) => router.bringAllWaiting() },
  { name: "expire-tasks", everyMs: 1_000, run: expireTasks },
  { name: "renew-leases", everyMs: 15_000, run: renewLeases },
  { name: "meet-facilitator", everyMs: 30_000, run: meetFacilitator },
  { name: "finish-payments", everyMs: 30_000, asksOthers: true, run: finishPayments },
  { name: "deliver-webhooks", everyMs: 1_000, asksOthers: true, run: deliverWebhooks },
  { name: "lapse-leases", everyMs: 5_000, run: lapseLeases },
  { name: "forget-old-tasks", everyMs: 60_000, run: forgetOldTasks },
  { name: "forget-ended-budgets", everyMs: 60_000, run: forgetEndedBudgets },
  { name: "forget-old-keys", everyMs: 60_000, run: forgetOldKeys },
  { name: "forget-spent-tokens", everyMs: 60_000, run: forgetSpentTokens },
  { name: "forget-old-decisions", everyMs: 600_000, run: forgetOldDecisions },
  { name: "forget-old-pairings", everyMs: 60_000, run: forgetOldPairings },
];

const bookJob = ({ config }: Services): Job => ({
  name: "reconcile",
  everyMs: config.books.reconcileIntervalMs,
  // Large books take long, and no other job waits for them.
  asksOthers: true,
  run: ({ reconciler }) => reconciler.checkRecent(),
});

const federationJobs = ({ config }: Services, work: FederationWork): readonly Job[] => [
  { name: "deliver-to-peers", everyMs: 0, run: () => work.deliver() },
  {
    name: "heartbeat",
    everyMs: config.federation.heartbeatIntervalMs,
    whileFrozen: true,
    run: async () => work.heartbeat(),
  },
  { name: "forget-old-forwards", everyMs: 60_000, run: forgetOldForwards },
];

/** The background jobs of a relay. */
export interface Jobs {
  /** Runs what is due, and resolves when all of it is done that waits for nobody outside. */
  tick(): Promise<void>;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
}

/**
 * Runs every background job that is due; one that fails is logged and due again next time. While the
 * relay is frozen only those run that say so. What asks others waits for them by itself, so that it holds up no other.
 */
export function createJobs(services: Services, work?: FederationWork): Jobs {
  const jobs = [
    ...ownJobs,
    bookJob(services),
    ...(work === undefined ? [] : federationJobs(services, work)),
  ];
  const lastRun = new Map<string, number>();
  const running = new Map<string, Promise<void>>();

  async function attempt(job: Job): Promise<void> {
    try {
      await job.run(services);
      services.jobBoard.ran(job, true);
    } catch (error) {
      services.jobBoard.ran(job, false);
      services.log.error("job.failed", { job: job.name, error: String(error) });
    }
  }

  return {
    async tick() {
      const isFrozen = services.freezer.frozen() !== undefined;
      const now = services.clock.elapsed();
      for (const job of jobs) {
        if (isFrozen && job.whileFrozen !== true) continue;
        const { name, everyMs } = job;
        if (now - (lastRun.get(name) ?? -Infinity) < everyMs || running.has(name)) continue;
        lastRun.set(name, now);
        const run = attempt(job);
        if (!job.asksOthers) await run;
        else
          running.set(
            name,
            run.finally(() => running.delete(name)),
          );
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}
