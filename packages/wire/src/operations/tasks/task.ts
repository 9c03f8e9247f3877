import * as v from "valibot";
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
  sub_scores: v.object({
    trust: v.number(),
    cost: v.number(),
    latency: v.number(),
    reliability: v.number(),
  }),
  routing_paths: v.array(v.array(v.string())),
  alternatives_considered: wholeNumber,
});
export type RoutingChoice = v.InferOutput<typeof RoutingChoice>;

export const Task = v.object({
  task_id: v.string(),
  agent_id: v.string(),
  prompt: v.string(),
  submitted_at: wholeNumber,
  status: extensibleEnum(TaskStatus.options),
  submitted_by: v.nullable(v.string()),
  assigned_to: v.nullable(v.string()),
  required_capabilities: v.array(v.string()),
  expires_at: wholeNumber,
  wall_clock_ms: v.nullable(v.number()),
  step_id: v.nullable(v.string()),
  routing_choice: v.nullable(RoutingChoice),
  estimated_cost: v.number(),
  amount_locked: v.number(),
  /** The number of the newest event of the task. */
  event_id: v.optional(wholeNumber),
  /** The time at which the submitter asked the executor to stop; absent before. */
  cancel_requested_at: v.optional(wholeNumber),
  /** Only of a task that was submitted with one. */
  delegation_token: v.optional(looseObject),
  /** The time at which `prompt`, result and notes were replaced by their hashes; absent before. */
  erased_at: v.optional(wholeNumber),
  /** Only of a task whose submitter inspects the result before it is paid. */
  acceptance: v.optional(AcceptanceTerms),
  /** Only with `acceptance`: the submitter's inspections before this one. */
  submitter_inspections: v.optional(InspectionCounts),
});
export type Task = v.InferInput<typeof Task>;

/** A task in a list; the prompt of an expired one is not stored and is empty here. */
export const ListedTask = v.object({
  ...Task.entries,
  status: extensibleEnum(ListedStatus.options),
});
export type ListedTask = v.InferInput<typeof ListedTask>;

/**
 * An event of a task, numbered from 1 without gaps. Streams, long polls, sockets and the list use the
 * same numbers.
 */
export const TaskEvent = v.object({
  event_id: wholeNumber,
  type: extensibleEnum([
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
  at: wholeNumber,
  task_id: v.string(),
  /** The agent that has the task now; only of `reassigned`. */
  assigned_to: v.optional(v.nullable(v.string())),
  /** Only of `progress`. */
  note: v.optional(v.string()),
});
export type TaskEvent = v.InferInput<typeof TaskEvent>;
