import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum, looseObject, wholeNumber } from "../../engine/fields.ts";
import { AcceptanceTerms, InspectionCounts } from "./acceptance.ts";

/** States of a task; an expired task is removed and has no state (specification, "Task"). */
export const TaskStatus = v.picklist([
  "pending",
  "claimed",
  "completed",
  "failed",
  "denied",
  "cancelled",
]);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

/** The states in a list of submitted tasks, which also shows claimed tasks that expired. */
export const ListedStatus = v.picklist([...TaskStatus.options, "expired"]);
export type ListedStatus = v.InferOutput<typeof ListedStatus>;

export const RoutingChoice = v.object({
  selected_agent: v.string(),
  composite_score: v.number(),
  sub_scores: describeAs(
    v.object({
      trust: describeAs(v.number(), "The factor of trust."),
      cost: describeAs(v.number(), "The factor of the price."),
      latency: describeAs(v.number(), "The factor of latency."),
      reliability: describeAs(v.number(), "The factor of completed tasks."),
    }),
    "The factors of the score, each from 0 to 1; higher is better.",
  ),
  routing_paths: v.array(v.array(v.string())),
  alternatives_considered: wholeNumber,
});
export type RoutingChoice = v.InferOutput<typeof RoutingChoice>;

export const Task = v.object({
  task_id: v.string(),
  agent_id: describeAs(v.string(), "The id of the agent that the task is targeted at."),
  prompt: v.string(),
  submitted_at: wholeNumber,
  status: describeAs(extensibleEnum(TaskStatus.options), "The state of the task."),
  submitted_by: describeAs(
    v.nullable(v.string()),
    "The id of the agent that submitted the task; null if there is none.",
  ),
  assigned_to: describeAs(
    v.nullable(v.string()),
    "The id of the agent that has the task instead of `agent_id`; null while that one has it.",
  ),
  required_capabilities: v.array(v.string()),
  expires_at: wholeNumber,
  wall_clock_ms: describeAs(
    v.nullable(v.number()),
    "The time that the executor has for the task, in ms; null without a limit.",
  ),
  step_id: describeAs(
    v.nullable(v.string()),
    "The id of the step of a plan; null if there is none.",
  ),
  routing_choice: v.nullable(RoutingChoice),
  estimated_cost: v.number(),
  amount_locked: v.number(),
  event_id: describeAs(v.optional(wholeNumber), "The number of the newest event of the task."),
  /** When the submitter asked the executor to stop; absent before. */
  cancel_requested_at: v.optional(wholeNumber),
  delegation_token: describeAs(
    v.optional(looseObject),
    "The signed delegation token; only for a task that was submitted with one.",
  ),
  /** When `prompt`, result and notes were replaced by their hashes; absent before. */
  erased_at: v.optional(wholeNumber),
  /** Only for a task whose submitter inspects the result before it is paid. */
  acceptance: v.optional(AcceptanceTerms),
  submitter_inspections: describeAs(
    v.optional(InspectionCounts),
    "The submitter's inspections before this one; only with `acceptance`.",
  ),
});
export type Task = v.InferInput<typeof Task>;

/** A task in a list; the prompt of an expired one is not stored and is empty here. */
export const ListedTask = v.object({
  ...Task.entries,
  status: describeAs(
    extensibleEnum(ListedStatus.options),
    "The state of the task; `expired` for a claimed task whose time ended.",
  ),
});
export type ListedTask = v.InferInput<typeof ListedTask>;

/**
 * An event of a task, numbered from 1 without gaps. Streams, long polls, sockets and the list use the
 * same numbers.
 */
export const TaskEvent = v.object({
  event_id: describeAs(wholeNumber, "The number of the event, from 1 without gaps."),
  type: describeAs(
    extensibleEnum([
      "submitted",
      "claimed",
      "progress",
      "released",
      "reassigned",
      "completed",
      "failed",
      "denied",
      "cancelled",
      "expired",
    ]),
    "What happened.",
  ),
  at: wholeNumber,
  task_id: v.string(),
  assigned_to: describeAs(
    v.optional(v.nullable(v.string())),
    "The id of the agent that has the task now, null or absent if it is the target; only for `reassigned`.",
  ),
  note: describeAs(v.optional(v.string()), "What the executor reported; only for `progress`."),
});
export type TaskEvent = v.InferInput<typeof TaskEvent>;
