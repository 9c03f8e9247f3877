import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { money, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ListedStatus } from "../tasks/task.ts";
import { FreezeReport } from "./freeze.ts";

const counts = v.record(v.string(), wholeNumber);

const TaskCounts = v.object({
  pending: describeAs(wholeNumber, "The number of open tasks that no executor has now."),
  claimed: describeAs(wholeNumber, "The number of open tasks that an executor has."),
  completed: describeAs(wholeNumber, "The number of all tasks that completed."),
  failed: describeAs(wholeNumber, "The number of all tasks that failed."),
  denied: describeAs(wholeNumber, "The number of all tasks that their executor denied."),
  cancelled: describeAs(wholeNumber, "The number of all tasks that were cancelled."),
  expired: describeAs(wholeNumber, "The number of all tasks that expired."),
} satisfies Record<ListedStatus, v.GenericSchema>);

const MoneySums = v.object({
  balances: describeAs(money, "The balances of all agents, in USD; holds are not in them."),
  held: describeAs(
    money,
    "The holds of open tasks, and of ended ones that wait for another relay, in USD.",
  ),
  inspected: describeAs(
    money,
    "The money held until inspections close, in USD: the amounts due, the fees and the bonds of disputes.",
  ),
  pending_withdrawals: money,
  fees_today: describeAs(money, "The earnings of the relay since midnight UTC, in USD."),
  fees_total: describeAs(money, "The earnings of the relay since its beginning, in USD."),
});

/** A background job of the process that answers. */
const JobReport = v.object({
  job: describeAs(v.string(), "The name of the job."),
  ok: describeAs(
    v.boolean(),
    "False while its next success is overdue; always true while the relay is frozen.",
  ),
  age_ms: describeAs(
    wholeNumber,
    "The time in ms since its last success or the end of a freeze; since its first run before.",
  ),
  failures: describeAs(
    wholeNumber,
    "The number of its failed runs since the process that answers began to run it.",
  ),
});

const DatabaseReport = v.object({
  bytes: describeAs(
    v.nullable(wholeNumber),
    "The size in bytes; null where the engine does not state it.",
  ),
  in_memory: describeAs(
    v.boolean(),
    "Whether it is only in memory, and is lost when the relay stops.",
  ),
  last_backup_at: describeAs(
    v.nullable(wholeNumber),
    "The time of the last `agent-relay backup`, in ms since the Unix epoch; null without one, and if the database is no file.",
  ),
  write_fault: describeAs(
    v.optional(v.string()),
    "Why the database accepts no writes, such as a full disk; absent while it does. The newest events are then not counted.",
  ),
});

/** A process of the relay; several of them share one database (docs/scale-out.md). */
export const RelayProcess = v.object({
  process_id: describeAs(
    v.nullable(v.string()),
    "The id since its last start; null where only one process can run.",
  ),
  name: describeAs(v.string(), "The name that the operator gave it."),
  version: describeAs(v.string(), "The version of the relay."),
  started_at: wholeNumber,
  renewed_at: describeAs(
    wholeNumber,
    "The time at which it last showed that it is alive, in ms since the Unix epoch.",
  ),
  alive: describeAs(v.boolean(), "False once the others count it as dead."),
  leads: describeAs(
    v.boolean(),
    "Whether it is the leader, which does the work that only one process may do.",
  ),
  answers: describeAs(v.boolean(), "Whether this process answered the request."),
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
          TaskCounts,
          "Open tasks now; for the other states all tasks that ended in them.",
        ),
        open: describeAs(
          v.object({
            count: describeAs(wholeNumber, "The number of pending and claimed tasks."),
            oldest_at: describeAs(
              v.nullable(wholeNumber),
              "The time at which the oldest was submitted, in ms since the Unix epoch; null if there is none.",
            ),
          }),
          "The open tasks.",
        ),
        money: describeAs(MoneySums, "The money at the relay."),
        agents: describeAs(
          v.object({
            bound: describeAs(
              wholeNumber,
              "The number of agents known here that are not revoked, registered or not.",
            ),
            registered: describeAs(wholeNumber, "The number of those that are registered."),
            online: describeAs(wholeNumber, "The number of agents that are reachable now."),
          }),
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
        freeze: describeAs(FreezeReport, "Whether and why the relay is frozen."),
        draining: describeAs(v.boolean(), "Whether the relay is shutting down."),
        processes: describeAs(wholeNumber, "The number of processes of the relay that are alive."),
        jobs: describeAs(v.array(JobReport), "The background jobs of the process that answers."),
        books: describeAs(
          v.nullable(
            v.object({
              at: describeAs(
                wholeNumber,
                "The time at which the check began, in ms since the Unix epoch.",
              ),
              consistent: describeAs(v.boolean(), "Whether every rule of the books held."),
            }),
          ),
          "The last check of the books by this process; null before the first one.",
        ),
        database: describeAs(DatabaseReport, "The database."),
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
    summary:
      "List the processes of the relay, including, for a minute, those that ended without notice.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: v.object({ processes: describeAs(v.array(RelayProcess), "The processes.") }) },
    refusals: [],
  }),
} as const;
