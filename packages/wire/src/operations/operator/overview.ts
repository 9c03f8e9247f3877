import * as v from "valibot";
import { money, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ListedStatus } from "../tasks/task.ts";
import { FreezeReport } from "./freeze.ts";

const counts = v.record(v.string(), wholeNumber);

/** A process of the relay; several of them share one database (docs/scale-out.md). */
export const RelayProcess = v.object({
  /** Its id since its last start; null where the relay is always one process. */
  process_id: v.nullable(v.string()),
  /** The name that the operator gave it. */
  name: v.string(),
  version: v.string(),
  started_at: wholeNumber,
  /** The time at which it last showed that it is alive. */
  renewed_at: wholeNumber,
  /** False once the others count it as dead. */
  alive: v.boolean(),
  /** Whether it does the work that one process does for all. */
  leads: v.boolean(),
  /** Whether this answer is its own. */
  answers: v.boolean(),
  /** The agents with a socket at it. */
  agents: wholeNumber,
});
export type RelayProcess = v.InferInput<typeof RelayProcess>;

export const overview = {
  getOverview: defineOperation({
    method: "GET",
    path: "/api/v1/admin/overview",
    summary:
      "Get the state of the relay in one answer: tasks, money, agents, peers, jobs, database.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: {
      200: v.object({
        /** Open tasks now; for the other states all tasks that ended in them. */
        tasks: v.object(
          Object.fromEntries(ListedStatus.options.map((state) => [state, wholeNumber])) as Record<
            ListedStatus,
            v.NumberSchema<undefined>
          >,
        ),
        open: v.object({ count: wholeNumber, oldest_at: v.nullable(wholeNumber) }),
        money: v.object({
          balances: money,
          /** The holds of open tasks, and of ended ones that wait for another relay. */
          held: money,
          /** Held until inspections close: the sums due, the fees and the bonds of disputes. */
          inspected: money,
          pending_withdrawals: money,
          /** Since midnight, UTC. */
          fees_today: money,
          fees_total: money,
        }),
        agents: v.object({ bound: wholeNumber, registered: wholeNumber, online: wholeNumber }),
        sockets: wholeNumber,
        /** Counted by state. */
        peers: counts,
        outbox_failed: wholeNumber,
        withdrawals_pending: wholeNumber,
        approvals_pending: wholeNumber,
        /** Disputes that the operator must decide. */
        disputes_pending: wholeNumber,
        freeze: FreezeReport,
        draining: v.boolean(),
        /** The processes of the relay that are alive. */
        processes: wholeNumber,
        jobs: v.array(
          v.object({
            job: v.string(),
            ok: v.boolean(),
            age_ms: wholeNumber,
            failures: wholeNumber,
          }),
        ),
        /** The last check of the books; null before the first one. */
        books: v.nullable(v.object({ at: wholeNumber, consistent: v.boolean() })),
        database: v.object({
          /** Null where the engine does not say. */
          bytes: v.nullable(wholeNumber),
          in_memory: v.boolean(),
          last_backup_at: v.nullable(wholeNumber),
        }),
        /** The number of the newest event; 0 before the first one. */
        last_event: wholeNumber,
        uptime_ms: wholeNumber,
        version: v.string(),
      }),
    },
    refusals: [],
  }),
  listProcesses: defineOperation({
    method: "GET",
    path: "/api/v1/admin/processes",
    summary: "List the processes of the relay, those that ended without notice for a minute too.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: v.object({ processes: v.array(RelayProcess) }) },
    refusals: [],
  }),
} as const;
