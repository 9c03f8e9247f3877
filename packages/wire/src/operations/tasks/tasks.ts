import { ExecutionReceiptSchema } from "@agent/receipts";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  eventNumber,
  looseObject,
  nextCursor,
  pageQuery,
  waitSeconds,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { AcceptanceTerms } from "./acceptance.ts";
import { SubmitTaskBody } from "./submit-task-body.ts";
import { ListedStatus, ListedTask, RoutingChoice, Task } from "./task.ts";

const TaskAnswer = v.object({
  task: Task,
  receipt: describeAs(
    v.nullable(looseObject),
    "The executor's signed receipt; null until it arrives.",
  ),
  attestation: describeAs(
    v.exactOptional(looseObject),
    "The signed attestation of the relay that executed the task; only for a forwarded task.",
  ),
  peer: describeAs(
    v.exactOptional(
      v.object({
        relay_id: v.string(),
        hold: describeAs(
          v.string(),
          "The state of the hold: `open`, `due`, `settled`, `released` or `defaulted`.",
        ),
        order: describeAs(
          v.nullable(looseObject),
          "The peer's signed order of the task; null if none is stored.",
        ),
        accepted: describeAs(
          v.nullable(looseObject),
          "The peer's signed acceptance of the result; null until then.",
        ),
      }),
    ),
    "The messages that the peer signed; only for the operator and a task that came from a peer.",
  ),
});

export const tasks = {
  submitTask: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task",
    summary: "Submit a task; its price is quoted and held before it is routed.",
    section: "Tasks",
    auth: "bearer",
    audited: "always",
    scope: "task:submit",
    tier: "write",
    keyed: true,
    headers: {
      "PAYMENT-SIGNATURE": "An x402 v2 payment that meets the requirements of a 402 response.",
    },
    body: SubmitTaskBody,
    ok: {
      201: v.object({
        task_id: v.string(),
        status: describeAs(v.literal("pending"), "Always `pending`."),
        routing_choice: v.nullable(RoutingChoice),
        expires_at: wholeNumber,
        estimated_cost: v.number(),
        amount_locked: v.number(),
        acceptance: describeAs(
          v.exactOptional(AcceptanceTerms),
          "The terms of the inspection, if one was requested.",
        ),
      }),
    },
    refusals: [
      "request.invalid",
      "task.no_candidate",
      "task.too_deep",
      "task.target_blocked",
      "task.target_revoked",
      "task.id_conflict",
      "acceptance.not_offered",
      "acceptance.free_task",
      "acceptance.arbiter_invalid",
      "acceptance.suspended",
      "dispute.too_many",
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
    summary: "Get a task and its receipt; `wait` delays the response until the task changes.",
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
      "Stream a task's events (Server-Sent Events) after `Last-Event-ID` or `after` until it ends.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    query: v.object({ after: eventNumber }),
    headers: {
      "Last-Event-ID": "The number of the last received event; takes precedence over `after`.",
    },
    media: ["text/event-stream"],
    // By the standard, a client must not reconnect after 204, because no event will follow.
    ok: { 200: v.string(), 204: v.undefined() },
    refusals: ["task.not_found", "task.not_participant", "stream.too_many"],
  }),
  listTasks: defineOperation({
    method: "GET",
    path: "/agent/:agentId/tasks",
    summary:
      "List the tasks targeted at or assigned to an agent or, with `submitted_by=me`, those that it submitted.",
    section: "Tasks",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({
      status: describeAs(v.optional(ListedStatus), "Only tasks in this state."),
      submitted_by: describeAs(
        v.optional(v.literal("me")),
        "With `me`, lists the tasks that the agent submitted.",
      ),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        tasks: describeAs(v.array(ListedTask), "The tasks."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  cancelTask: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/cancel",
    summary:
      "Cancel a pending task and release its hold, or ask the executor of a claimed one to stop.",
    section: "Tasks",
    auth: "bearer",
    audited: "always",
    scope: "task:submit",
    tier: "write",
    keyed: true,
    ok: {
      200: v.object({
        task_id: v.string(),
        status: describeAs(v.literal("cancelled"), "Always `cancelled`."),
      }),
      202: v.object({
        task_id: v.string(),
        status: describeAs(
          v.literal("claimed"),
          "Always `claimed`: the executor was asked to stop.",
        ),
        cancel_requested_at: wholeNumber,
      }),
    },
    refusals: ["task.not_found", "task.not_submitter", "task.not_pending"],
  }),
  eraseTaskTexts: defineOperation({
    method: "DELETE",
    path: "/api/v1/admin/tasks/:taskId/texts",
    summary:
      "Replace the prompt, result and notes of a finished task by their hashes, as its submitter or the operator.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:submit",
    tier: "write",
    ok: {
      200: v.object({
        task_id: v.string(),
        erased_at: wholeNumber,
        copies_left: describeAs(
          wholeNumber,
          "The number of receipts of other tasks that still contain this task's receipt with its result.",
        ),
      }),
    },
    refusals: ["task.not_found", "task.not_submitter", "task.not_finished"],
  }),
  postResult: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/result",
    summary: "Submit a signed receipt; it is fully verified, then settled in one transaction.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    keyed: true,
    body: ExecutionReceiptSchema,
    rawBody: true,
    ok: {
      200: v.object({
        status: describeAs(v.string(), "The state of the task."),
        credential_id: describeAs(
          v.optional(v.string()),
          "The id of the reputation credential that was issued for the task; absent if there is none.",
        ),
      }),
    },
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
