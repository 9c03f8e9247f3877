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
          "The kind of the bad end.",
        ),
        sentence: describeAs(v.string(), "The receipt's `result`, cut at 300 characters."),
      }),
    ),
    "Why it ended badly; null unless it did.",
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
    ok: { 200: v.object({ tasks: v.array(OperatorTask), next_cursor: nextCursor }) },
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
        parent_task_id: v.nullable(v.string()),
        children: v.array(v.string()),
        /** The agents that it was assigned to, in order, with the way each assignment ended. */
        executors: v.array(
          v.object({
            agent_id: v.string(),
            relay_id: v.nullable(v.string()),
            price: money,
            outcome: extensibleEnum([
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
          }),
        ),
        /** The ways in which it was given to an executor that took it. */
        deliveries: v.array(
          v.object({
            agent_id: v.string(),
            /**
             * `socket` stands for every device that took it itself, over a socket or HTTP; null where it is
             * no longer known.
             */
            channel: v.nullable(extensibleEnum(["socket", "mcp", "peer"])),
            attempts: wholeNumber,
            last_at: v.nullable(wholeNumber),
          }),
        ),
        hold: v.nullable(Hold),
        postings: v.array(
          v.object({
            transaction_id: v.string(),
            account: v.string(),
            type: v.string(),
            amount: money,
            created_at: wholeNumber,
          }),
        ),
        settlement_ids: v.array(v.string()),
        events: v.array(looseObject),
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
        /** Null without a receipt. */
        result: v.nullable(v.string()),
        erased_at: v.nullable(wholeNumber),
      }),
    },
    refusals: ["task.not_found"],
  }),
} as const;
