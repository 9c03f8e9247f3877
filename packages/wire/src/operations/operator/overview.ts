import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { money, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ListedStatus } from "../tasks/task.ts";
import { FreezeReport } from "./freeze.ts";

const counts = v.record(v.string(), wholeNumber);

/** A process of the relay; several of them share one database (docs/scale-out.md). */
export const RelayProcess = v.object({
  process_id: describeAs(
    v.nullable(v.string()),
    "The id since its last start; null where there is always only one.",
  ),
  name: describeAs(v.string(), "The name that the operator gave it."),
  version: describeAs(v.string(), "The version of the relay."),
  started_at: wholeNumber,
  renewed_at: describeAs(
    wholeNumber,
    "The time at which it last showed that it is alive, in ms since the Unix epoch.",
  ),
  alive: describeAs(v.boolean(), "False once the others count it as dead."),
  leads: describeAs(v.boolean(), "Whether it does the work that only one of them does."),
  answers: describeAs(v.boolean(), "Whether this answer is its own."),
  agents: describeAs(wholeNumber, "The number of agents with a socket at it."),
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
        tasks: describeAs(
          v.object(
            Object.fromEntries(ListedStatus.options.map((state) => [state, wholeNumber])) as Record<
              ListedStatus,
              v.NumberSchema<undefined>
            >,
          ),
          "Open tasks now; for the other states all tasks that ended in them.",
        ),
        open: describeAs(
          v.object({ count: wholeNumber, oldest_at: v.nullable(wholeNumber) }),
          "The open tasks.",
        ),
        money: describeAs(
          v.object({
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
          "The money at the relay.",
        ),
        agents: describeAs(
          v.object({ bound: wholeNumber, registered: wholeNumber, online: wholeNumber }),
          "The agents of the relay.",
        ),
        sockets: describeAs(wholeNumber, "The number of open sockets, at all processes."),
        peers: describeAs(counts, "The number of peers in each state."),
        outbox_failed: describeAs(
          wholeNumber,
          "The number of settlements that could not be delivered to peers.",
        ),
        withdrawals_pending: describeAs(
          wholeNumber,
          "The number of withdrawals that wait for the operator.",
        ),
        approvals_pending: describeAs(wholeNumber, "The number of approvals that wait for votes."),
        disputes_pending: describeAs(
          wholeNumber,
          "The number of disputes that the operator must decide.",
        ),
        freeze: FreezeReport,
        draining: describeAs(v.boolean(), "Whether the relay is about to stop."),
        processes: describeAs(wholeNumber, "The number of processes of the relay that are alive."),
        jobs: describeAs(
          v.array(
            v.object({
              job: v.string(),
              ok: v.boolean(),
              age_ms: wholeNumber,
              failures: wholeNumber,
            }),
          ),
          "The background jobs.",
        ),
        books: describeAs(
          v.nullable(v.object({ at: wholeNumber, consistent: v.boolean() })),
          "The last check of the books; null before the first one.",
        ),
        database: describeAs(
          v.object({
            /** Null where the engine does not say. */
            bytes: v.nullable(wholeNumber),
            in_memory: v.boolean(),
            last_backup_at: v.nullable(wholeNumber),
          }),
          "The database.",
        ),
        last_event: describeAs(
          wholeNumber,
          "The number of the newest event; 0 before the first one.",
        ),
        uptime_ms: describeAs(wholeNumber, "The time since the start, in ms."),
        version: describeAs(v.string(), "The version of the relay."),
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
    ok: { 200: v.object({ processes: describeAs(v.array(RelayProcess), "The processes.") }) },
    refusals: [],
  }),
} as const;
