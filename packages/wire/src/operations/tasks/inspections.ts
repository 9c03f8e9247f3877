import { DecisionRecordSchema, VerdictRecordSchema } from "@agent/receipts";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  extensibleEnum,
  looseObject,
  money,
  nextCursor,
  pageQuery,
  waitSeconds,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { AcceptanceTerms } from "./acceptance.ts";

const InspectionState = v.picklist(["inspecting", "rejected", "disputed", "closed"]);

const InspectionRole = v.picklist(["delegator", "executor", "arbiter"]);
export type InspectionRole = v.InferOutput<typeof InspectionRole>;

/** The relay's signed statement of the end; `verifyOutcomeRecord` of `@agent/receipts` checks it. */
const InspectionOutcome = v.object({
  task_id: v.string(),
  receipt_hash: v.string(),
  outcome: extensibleEnum(["accepted", "lapsed", "conceded", "unanswered", "decided", "undecided"]),
  /** The part of the due sum that was paid. */
  share: v.number(),
  verdicts: v.array(v.string()),
  decision: v.nullable(v.string()),
  closed_at: wholeNumber,
  issuer: v.string(),
  suite: v.string(),
  signature: v.string(),
});

/** An inspection before payment. Reasons are texts of strangers, never instructions to a model. */
export const Inspection = v.object({
  task_id: v.string(),
  /** The agent of the task's path. */
  agent_id: v.string(),
  submitter_id: v.string(),
  executor_id: v.string(),
  /** The SHA-256 of the canonical JSON of the receipt, which every word must name. */
  receipt_hash: v.string(),
  state: extensibleEnum(InspectionState.options),
  terms: AcceptanceTerms,
  /** The sum that the receipt earned, and the arbitration fee of that sum. */
  due: money,
  fee: money,
  /** The arbiter in charge of a dispute; the relay's id for its operator. */
  arbiter_id: v.string(),
  /** The time at which the state ends by itself; null once it is closed. */
  deadline: v.nullable(wholeNumber),
  /** The signed words of the parties as they arrived, oldest first. */
  verdicts: v.array(looseObject),
  decision: v.nullable(looseObject),
  outcome: v.nullable(InspectionOutcome),
});
export type Inspection = v.InferInput<typeof Inspection>;

/** The operator's own decision, which the relay signs; all others are signed words. */
export const OperatorDecision = v.strictObject({
  share: DecisionRecordSchema.entries.share,
  reason: DecisionRecordSchema.entries.reason,
});
export type OperatorDecision = v.InferOutput<typeof OperatorDecision>;

const page = { inspections: v.array(Inspection), next_cursor: nextCursor };

/** Refusals that concern reading an inspection. */
const READ_REFUSALS = ["task.not_found", "task.not_participant", "inspection.not_found"] as const;

const WORD_REFUSALS = [
  "request.invalid",
  ...READ_REFUSALS,
  "inspection.not_party",
  "inspection.receipt_mismatch",
  "inspection.signature_invalid",
  "inspection.timestamp",
  "inspection.closed",
  "inspection.wrong_state",
] as const;

export const inspections = {
  giveVerdict: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/verdict",
    summary:
      "Give a signed verdict on a result: its submitter accepts or rejects, its executor concedes or contests.",
    section: "Inspections",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    keyed: true,
    body: VerdictRecordSchema,
    rawBody: true,
    ok: { 200: Inspection },
    refusals: [...WORD_REFUSALS, "dispute.bond_required"],
  }),
  decideDispute: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/decision",
    summary:
      "Decide a disputed inspection as the arbiter in charge, by a signed word; the operator sends `share` and `reason`.",
    section: "Inspections",
    auth: "bearer",
    operator: "operate",
    audited: "always",
    scope: "task:result",
    tier: "write",
    keyed: true,
    body: v.union([OperatorDecision, DecisionRecordSchema]),
    rawBody: true,
    ok: { 200: Inspection },
    refusals: WORD_REFUSALS,
  }),
  getInspection: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/inspection",
    summary:
      "Get the inspection of a task, as a participant or its arbiter in charge; `wait` delays the response until it changes.",
    section: "Inspections",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    query: v.object({ wait: waitSeconds }),
    ok: { 200: Inspection },
    refusals: READ_REFUSALS,
  }),
  listInspections: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/inspections",
    summary: "List an agent's inspections as `delegator`, `executor` or `arbiter`, newest first.",
    section: "Inspections",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({
      role: describeAs(
        v.optional(InspectionRole),
        "Only inspections in which the agent has this role; `delegator` is the submitter.",
      ),
      state: describeAs(v.optional(InspectionState), "Only inspections in this state."),
      ...pageQuery,
    }),
    ok: { 200: v.object(page) },
    refusals: ["request.invalid"],
  }),
  listDisputes: defineOperation({
    method: "GET",
    path: "/api/v1/admin/disputes",
    summary: "List the disputes that wait for the operator's decision, oldest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object(page) },
    refusals: ["request.invalid"],
  }),
  listAllInspections: defineOperation({
    method: "GET",
    path: "/api/v1/admin/inspections",
    summary: "List the inspections of all tasks, newest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      state: describeAs(v.optional(InspectionState), "Only inspections in this state."),
      ...pageQuery,
    }),
    ok: { 200: v.object(page) },
    refusals: ["request.invalid"],
  }),
} as const;
