import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { nextCursor, pageQuery, shortText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** An action of an agent, of the operator or of one of its console sessions. */
export const OperatorAuditEntry = v.object({
  at: wholeNumber,
  /** An agent's id, `operator` (or `operator:1`), `session:` and an id, or `anonymous`. */
  actor: v.string(),
  device_id: v.nullable(v.string()),
  /** A word of an agent's audit, or the name of the operation that the operator called. */
  action: v.string(),
  /** The agent that it concerns; null if it concerns the relay. */
  agent_id: v.nullable(v.string()),
  detail: v.nullable(v.string()),
  /**
   * Of an operator's act: the status or the code of its answer; null if the relay ended before it
   * answered. Absent for agents.
   */
  result: v.optional(v.nullable(v.string())),
});
export type OperatorAuditEntry = v.InferInput<typeof OperatorAuditEntry>;

export const operatorAudit = {
  listOperatorAudit: defineOperation({
    method: "GET",
    path: "/api/v1/admin/audit",
    summary: "List who did what, agents and operators, newest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      actor: describeAs(v.optional(shortText), "Only actions of this actor."),
      action: describeAs(v.optional(shortText), "Only actions of this name."),
      ...pageQuery,
    }),
    ok: { 200: v.object({ entries: v.array(OperatorAuditEntry), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
} as const;
