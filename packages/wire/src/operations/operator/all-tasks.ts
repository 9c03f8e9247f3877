import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  extensibleEnum,
  freeText,
  looseObject,
  money,
  nextCursor,
  pageQuery,
  timeText,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { ListedStatus, ListedTask } from "../tasks/task.ts";
import { Hold } from "./holds.ts";

/** A task as the operator's lists show it: without its texts, with the reason for a bad end. */
export const OperatorTask = v.object({
  ...v.omit(ListedTask, ["prompt"]).entries,
  reason: describeAs(
    v.nullable(
      v.object({
        code: describeAs(
          extensibleEnum(["failed", "denied", "expired", "no_show"]),
          "The kind of failure.",
        ),
        sentence: describeAs(
          v.string(),
          "The receipt's `result`, cut at 300 characters, or the relay's own words if the task expired.",
        ),
      }),
    ),
    "The reason for the failure; null if it did not fail.",
  ),
  duration_ms: describeAs(
    v.nullable(wholeNumber),
    "The time from submission to end, in ms; null while it is open.",
  ),
  ended_at: v.nullable(wholeNumber),
  settled: describeAs(
    v.nullable(money),
    "The amount that the submitter paid, in USD; null before a settlement.",
  ),
});
export type OperatorTask = v.InferInput<typeof OperatorTask>;

/** An assignment of a task to an executor. */
const Assignment = v.object({
  agent_id: v.string(),
  relay_id: describeAs(
    v.nullable(v.string()),
    "The id of the peer that it was forwarded to; null for an agent of this relay.",
  ),
  price: describeAs(money, "The price that this executor charges, in USD."),
  outcome: describeAs(
    extensibleEnum([
      "waiting",
      "working",
      "completed",
      "failed",
      "denied",
      "cancelled",
      "expired",
      "no_show",
      "passed_on",
    ]),
    "The end of the assignment, or `waiting` or `working` before; `passed_on` if another executor got it.",
  ),
});

/** The way a task was delivered to the executor that accepted it. */
const Delivery = v.object({
  agent_id: v.string(),
  channel: describeAs(
    v.nullable(extensibleEnum(["socket", "mcp", "peer"])),
    "`socket` for a device over a socket or HTTP, `mcp` for a call of its endpoint, `peer` for another relay; null if it is no longer known.",
  ),
  attempts: describeAs(wholeNumber, "The number of times that the executor accepted it."),
  last_at: describeAs(
    v.nullable(wholeNumber),
    "The time at which the executor last took it, or delivered a result without taking it, in ms since the Unix epoch; null if it is not known.",
  ),
});

/** One side of a movement of money for a task. */
const TaskPosting = v.object({
  transaction_id: v.string(),
  account: describeAs(
    v.string(),
    "The account: `agent:`, `held:` or `peer:` and an id, `relay:fees`, or `world` for the outside.",
  ),
  type: describeAs(v.string(), "The kind of movement."),
  amount: describeAs(money, "The amount in USD, above 0 if it came into the account."),
  created_at: wholeNumber,
});

export const allTasks = {
  listAllTasks: defineOperation({
    method: "GET",
    path: "/api/v1/admin/tasks",
    summary: "List the tasks of all agents, newest first, without their texts.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      state: describeAs(v.optional(ListedStatus), "Only tasks in this state."),
      agent: describeAs(v.optional(agentId), "Only tasks with this target or executor, by its id."),
      submitter: describeAs(v.optional(agentId), "Only tasks of this submitter, by its id."),
      from: describeAs(
        v.optional(timeText),
        "The beginning of the times of submission, in ms since the Unix epoch, inclusive.",
      ),
      to: describeAs(
        v.optional(timeText),
        "The end of the times of submission, in ms since the Unix epoch, exclusive.",
      ),
      failed: describeAs(
        v.optional(v.literal("1")),
        "Only tasks that failed, were denied, expired or were a no-show.",
      ),
      q: describeAs(
        v.optional(freeText),
        "A part of a task's id, of its agents' ids or of a required capability.",
      ),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        tasks: describeAs(v.array(OperatorTask), "The tasks, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getTaskReport: defineOperation({
    method: "GET",
    path: "/api/v1/admin/tasks/:taskId",
    summary:
      "Get a task by its id alone: its parent and children, executors, deliveries and money.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: {
      200: v.object({
        task: OperatorTask,
        parent_task_id: describeAs(
          v.nullable(v.string()),
          "The id of the task under which it was submitted; null if there is none.",
        ),
        children: describeAs(
          v.array(v.string()),
          "The ids of the first 200 tasks that were submitted under it, oldest first.",
        ),
        executors: describeAs(v.array(Assignment), "The agents that it was assigned to, in order."),
        deliveries: describeAs(
          v.array(Delivery),
          "The executors that accepted it; empty once it has expired.",
        ),
        hold: describeAs(
          v.nullable(Hold),
          "The money of its payer that is held for it; null if none is held.",
        ),
        postings: describeAs(
          v.array(TaskPosting),
          "Both sides of each movement of money for it, oldest first; empty once it expired.",
        ),
        settlement_ids: describeAs(
          v.array(v.string()),
          "The ids of its settlement records; empty without a payment.",
        ),
        events: describeAs(
          v.array(looseObject),
          "Its events without their notes, oldest first; empty once it expired.",
        ),
      }),
    },
    refusals: ["task.not_found"],
  }),
  getTaskTexts: defineOperation({
    method: "GET",
    path: "/api/v1/admin/tasks/:taskId/texts",
    summary: "Show the prompt and the result of a task. Every call is recorded in the audit.",
    section: "Operator",
    auth: "master",
    audited: "always",
    tier: "read",
    ok: {
      200: v.object({
        task_id: v.string(),
        prompt: v.string(),
        result: describeAs(
          v.nullable(v.string()),
          "The `result` of the executor's receipt; null without a receipt.",
        ),
        erased_at: describeAs(
          v.nullable(wholeNumber),
          "The time at which the texts were replaced by their hashes, in ms since the Unix epoch; null until then.",
        ),
      }),
    },
    refusals: ["task.not_found"],
  }),
} as const;
