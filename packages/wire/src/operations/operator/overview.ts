import * as v from "valibot";
import { money } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ListedStatus } from "../tasks/task.ts";
import { FreezeReport } from "./freeze.ts";

const counts = v.record(v.string(), v.number());

/** A process of the relay; several of them share one database (docs/scale-out.md). */
export const RelayProcess = v.object({
  /** Its id since its last start; null where the relay is always one process. */
  process_id: v.nullable(v.string()),
  /** The name that the operator gave it. */
  name: v.string(),
  version: v.string(),
  started_at: v.number(),
  /** The time at which it last showed that it is alive. */
  renewed_at: v.number(),
  /** False once the others count it as dead. */
  alive: v.boolean(),
  /** Whether it does the work that one process does for all. */
  leads: v.boolean(),
  /** Whether this answer is its own. */
  answers: v.boolean(),
  /** The agents with a socket at it. */
  agents: v.number(),
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
          Object.fromEntries(ListedStatus.options.map((state) => [state, v.number()])) as Record<
            ListedStatus,
            v.NumberSchema<undefined>
          >,
        ),
        open: v.object({ count: v.number(), oldest_at: v.nullable(v.number()) }),
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
        agents: v.object({ bound: v.number(), registered: v.number(), online: v.number() }),
        sockets: v.number(),
        /** Counted by state. */
        peers: counts,
        outbox_failed: v.number(),
        withdrawals_pending: v.number(),
        approvals_pending: v.number(),
        /** Disputes that the operator must decide. */
        disputes_pending: v.number(),
        freeze: FreezeReport,
        draining: v.boolean(),
        /** The processes of the relay that are alive. */
        processes: v.number(),
        jobs: v.array(
          v.object({ job: v.string(), ok: v.boolean(), age_ms: v.number(), failures: v.number() }),
        ),
        /** The last check of the books; null before the first one. */
        books: v.nullable(v.object({ at: v.number(), consistent: v.boolean() })),
        database: v.object({
          /** Null where the engine does not say. */
          bytes: v.nullable(v.number()),
          in_memory: v.boolean(),
          last_backup_at: v.nullable(v.number()),
        }),
        /** The number of the newest event; 0 before the first one. */
        last_event: v.number(),
        uptime_ms: v.number(),
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
