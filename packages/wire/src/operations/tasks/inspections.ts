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

/** The relay's signed statement of the outcome; `verifyOutcomeRecord` of `@agent/receipts` checks it. */
const InspectionOutcome = v.object({
  task_id: v.string(),
  receipt_hash: v.string(),
  outcome: describeAs(
    extensibleEnum(["accepted", "lapsed", "conceded", "unanswered", "decided", "undecided"]),
    "The result of the inspection.",
  ),
  share: describeAs(v.number(), "The share of the amount due that was paid, from 0 to 1."),
  verdicts: describeAs(
    v.array(v.string()),
    "The hashes of the verdicts in the order of their arrival, each as 64 hex digits.",
  ),
  decision: describeAs(
    v.nullable(v.string()),
    "The hash of the decision, as 64 hex digits; null if there is none.",
  ),
  closed_at: describeAs(wholeNumber, "The time of the end, in ms since the Unix epoch."),
  issuer: describeAs(v.string(), "The did:key of the relay that signed."),
  suite: v.string(),
  signature: v.string(),
});

/** An inspection before payment. Reasons are untrusted texts and must never be instructions to a model. */
export const Inspection = v.object({
  task_id: v.string(),
  agent_id: describeAs(v.string(), "The agent of the task's path."),
  submitter_id: describeAs(v.string(), "The id of the agent that submitted the task."),
  executor_id: describeAs(v.string(), "The id of the agent that executed the task."),
  receipt_hash: describeAs(
    v.string(),
    "The SHA-256 of the canonical JSON of the receipt, which every statement must name, as 64 hex digits.",
  ),
  state: describeAs(extensibleEnum(InspectionState.options), "The state of the inspection."),
  terms: AcceptanceTerms,
  due: describeAs(money, "The amount that the receipt earned, in USD."),
  fee: describeAs(money, "The arbitration fee for that amount, in USD."),
  arbiter_id: describeAs(
    v.string(),
    "The arbiter in charge of a dispute; the relay's id for its operator.",
  ),
  deadline: describeAs(
    v.nullable(wholeNumber),
    "The deadline of the state, in ms since the Unix epoch; null once it is closed.",
  ),
  verdicts: describeAs(
    v.array(looseObject),
    "The signed statements of the parties as they arrived, oldest first.",
  ),
  decision: describeAs(
    v.nullable(looseObject),
    "The arbiter's signed decision; null if there is none.",
  ),
  outcome: describeAs(
    v.nullable(InspectionOutcome),
    "The relay's signed statement of the outcome; null until it is closed.",
  ),
});
export type Inspection = v.InferInput<typeof Inspection>;

/** The operator's own decision, which the relay signs; all others are signed statements. */
export const OperatorDecision = v.strictObject({
  share: describeAs(
    DecisionRecordSchema.entries.share,
    "The share of the amount due that the executor is paid, from 0 to 1.",
  ),
  reason: describeAs(DecisionRecordSchema.entries.reason, "The reason for the decision."),
});
export type OperatorDecision = v.InferOutput<typeof OperatorDecision>;

const page = {
  inspections: describeAs(v.array(Inspection), "The inspections."),
  next_cursor: nextCursor,
};

/** Refusals that concern reading an inspection. */
const READ_REFUSALS = ["task.not_found", "task.not_participant", "inspection.not_found"] as const;

const STATEMENT_REFUSALS = [
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
    refusals: [...STATEMENT_REFUSALS, "dispute.bond_required"],
  }),
  decideDispute: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/decision",
    summary:
      "Decide a disputed inspection as the arbiter in charge, by a signed statement; the operator sends `share` and `reason`.",
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
    refusals: STATEMENT_REFUSALS,
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
    summary:
      "List the disputes that wait for the operator's decision, by the largest amount due, then by the oldest task.",
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
