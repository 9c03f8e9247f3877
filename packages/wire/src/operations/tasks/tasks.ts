import { ExecutionReceiptSchema } from "@agent/receipts";
import * as v from "valibot";
import {
  agentId,
  capabilities,
  eventNumber,
  extensibleEnum,
  finite,
  id,
  looseObject,
  nextCursor,
  pageQuery,
  price,
  publicKey,
  ratio,
  waitSeconds,
  wellFormed,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** States of a task; expiry is no state, it removes the task (specification, "Task"). */
export const TaskStatus = v.picklist([
  "pending",
  "claimed",
  "completed",
  "failed",
  "denied",
  "cancelled",
]);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

/** What a list of submitted tasks shows beside: a task that expired while somebody had claimed it. */
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
  alternatives_considered: v.number(),
});
export type RoutingChoice = v.InferOutput<typeof RoutingChoice>;

export const Task = v.object({
  task_id: v.string(),
  agent_id: v.string(),
  prompt: v.string(),
  submitted_at: v.number(),
  status: extensibleEnum(TaskStatus.options),
  submitted_by: v.nullable(v.string()),
  assigned_to: v.nullable(v.string()),
  required_capabilities: v.array(v.string()),
  expires_at: v.number(),
  wall_clock_ms: v.nullable(v.number()),
  step_id: v.nullable(v.string()),
  routing_choice: v.nullable(RoutingChoice),
  estimated_cost: v.number(),
  amount_locked: v.number(),
  /** The number of its newest event. */
  event_id: v.optional(v.number()),
  /** When its submitter asked the holder of the claim to stop; only then. */
  cancel_requested_at: v.optional(v.number()),
  /** Only where the task came with one. */
  delegation_token: v.optional(looseObject),
  /** Only where the texts were erased: when `prompt`, result and notes became their hashes. */
  erased_at: v.optional(v.number()),
});
export type Task = v.InferInput<typeof Task>;

/** The prompt of an expired task is not kept: it is empty. */
export const ListedTask = v.object({
  ...Task.entries,
  status: extensibleEnum(ListedStatus.options),
});
export type ListedTask = v.InferInput<typeof ListedTask>;

const PROMPT_RULE = `has to be at most ${limits.promptBytes} bytes of UTF-8`;

export const SubmitTaskBody = v.object({
  prompt: v.pipe(
    v.string(),
    v.minLength(1, "has to be non-empty"),
    v.maxBytes(limits.promptBytes, PROMPT_RULE),
    wellFormed,
  ),
  submitted_by: v.optional(agentId),
  required_capabilities: v.optional(capabilities),
  wall_clock_ms: v.optional(v.pipe(finite, v.minValue(1, "has to be 1 or more"))),
  /** How long the task lives; at most what the relay allows. */
  ttl_ms: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger("must be a whole number"),
      v.minValue(limits.minTaskTtlMs, `must be at least ${limits.minTaskTtlMs}`),
    ),
  ),
  step_id: v.optional(id),
  exploration_drive: v.optional(ratio),
  exclude_agents: v.optional(
    v.pipe(
      v.array(id),
      v.maxLength(limits.excludedAgents, `has to hold at most ${limits.excludedAgents} entries`),
    ),
  ),
  max_budget: v.optional(price),
  /** The target's key: the task goes to the agent with this key or to none. */
  public_key: v.optional(publicKey),
  /** The token, or its JSON text. */
  delegation_token: v.optional(v.union([looseObject, v.string()])),
});
export type SubmitTaskBody = v.InferOutput<typeof SubmitTaskBody>;

/**
 * What happened to a task, numbered from 1 without gaps. A stream, a held poll, a socket and the list
 * all speak of these numbers.
 */
export const TaskEvent = v.object({
  event_id: v.number(),
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
  at: v.number(),
  task_id: v.string(),
  /** Whom the task is with now; only of `reassigned`. */
  assigned_to: v.optional(v.nullable(v.string())),
  /** Only of `progress`. */
  note: v.optional(v.string()),
});
export type TaskEvent = v.InferInput<typeof TaskEvent>;

const TaskAnswer = v.object({
  task: Task,
  receipt: v.nullable(looseObject),
  /** Only where another relay had the task: its signed word on the receipt. */
  attestation: v.exactOptional(looseObject),
  /** Only for the operator, of a task that came from a peer: what the peer has signed for it. */
  peer: v.exactOptional(
    v.object({
      relay_id: v.string(),
      /** `open`, `due`, `settled`, `released` or `defaulted`. */
      hold: v.string(),
      order: v.nullable(looseObject),
      accepted: v.nullable(looseObject),
    }),
  ),
});

export const tasks = {
  submitTask: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task",
    summary: "Submit a task: price and hold are taken before anything is routed.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:submit",
    tier: "write",
    keyed: true,
    headers: { "PAYMENT-SIGNATURE": "A payment by x402 v2 of what a 402 asked for." },
    body: SubmitTaskBody,
    ok: {
      201: v.object({
        task_id: v.string(),
        status: v.literal("pending"),
        routing_choice: v.nullable(RoutingChoice),
        expires_at: v.number(),
        estimated_cost: v.number(),
        amount_locked: v.number(),
      }),
    },
    refusals: [
      "request.invalid",
      "task.no_candidate",
      "task.target_blocked",
      "task.id_conflict",
      "budget.insufficient",
      "account.overdrawn",
      "budget.max_exceeded",
      "budget.max_required",
      "budget.no_payer",
      "task.relay_full",
      "task.submitter_full",
      "delegation.malformed",
      "delegation.too_long",
      "delegation.suite",
      "delegation.wrong_issuer",
      "delegation.wrong_delegate",
      "delegation.remote_delegate",
      "agent.not_found",
      "delegation.chain_broken",
      "delegation.widened",
      "delegation.lifetime",
      "delegation.not_yet_valid",
      "delegation.expired",
      "delegation.key_unbound",
      "delegation.signature_invalid",
      "delegation.budget_exceeded",
      "payment.malformed",
      "payment.mismatch",
      "payment.invalid",
      "payment.not_settled",
      "payment.reused",
      "payment.unavailable",
      "payment.undecided",
    ],
  }),
  getTask: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId",
    summary: "A task and its receipt; `wait` holds the answer until the task changes.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    query: v.object({ wait: waitSeconds, after: eventNumber }),
    ok: { 200: TaskAnswer },
    refusals: ["task.not_found", "task.not_participant"],
  }),
  getTaskEvents: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/events",
    summary:
      "A task's events as a stream (Server-Sent Events), from `Last-Event-ID` or `after` on until it ends.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    query: v.object({ after: eventNumber }),
    headers: { "Last-Event-ID": "The number of the last event that is known; wins over `after`." },
    media: ["text/event-stream"],
    // Nothing is left to come: whoever reads streams by the standard does not ask again.
    ok: { 200: v.string(), 204: v.undefined() },
    refusals: ["task.not_found", "task.not_participant"],
  }),
  listTasks: defineOperation({
    method: "GET",
    path: "/agent/:agentId/tasks",
    summary:
      "Tasks addressed or assigned to an agent, or with `submitted_by=me` those it submitted.",
    section: "Tasks",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({
      status: v.optional(ListedStatus),
      submitted_by: v.optional(v.literal("me")),
      ...pageQuery,
    }),
    ok: { 200: v.object({ tasks: v.array(ListedTask), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  cancelTask: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/cancel",
    summary:
      "Cancel a pending task and release its hold, or ask the executor of a claimed one to stop.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:submit",
    tier: "write",
    keyed: true,
    ok: {
      200: v.object({ task_id: v.string(), status: v.literal("cancelled") }),
      202: v.object({
        task_id: v.string(),
        status: v.literal("claimed"),
        cancel_requested_at: v.number(),
      }),
    },
    refusals: ["task.not_found", "task.not_submitter", "task.not_pending"],
  }),
  eraseTaskTexts: defineOperation({
    method: "DELETE",
    path: "/api/v1/admin/tasks/:taskId/texts",
    summary:
      "Replace the prompt, the result and the notes of a finished task by their hashes, for its submitter or the operator.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:submit",
    tier: "write",
    ok: {
      200: v.object({
        task_id: v.string(),
        erased_at: v.number(),
        /** Receipts of others' tasks that still carry this task's receipt with its result. */
        copies_left: v.number(),
      }),
    },
    refusals: ["task.not_found", "task.not_submitter", "task.not_finished"],
  }),
  postResult: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/result",
    summary: "Deliver a signed receipt: verified whole, then settled in one transaction.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    keyed: true,
    body: ExecutionReceiptSchema,
    rawBody: true,
    ok: { 200: v.object({ status: v.string(), credential_id: v.optional(v.string()) }) },
    refusals: [
      "task.not_found",
      "task.not_participant",
      "task.already_finished",
      "receipt.malformed",
      "receipt.too_many_nested",
      "receipt.span",
      "receipt.task_mismatch",
      "receipt.suite",
      "receipt.wrong_agent",
      "receipt.key_missing",
      "receipt.signature_invalid",
      "receipt.out_of_scope",
      "agent.revoked",
      "money.balance_limit",
    ],
  }),
} as const;
