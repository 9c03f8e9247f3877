import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { nextCursor, pageQuery, shortText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** An action of an agent, of the operator or of one of its console sessions. */
export const OperatorAuditEntry = v.object({
  at: wholeNumber,
  actor: describeAs(
    v.string(),
    "An agent's id, `operator` (or `operator:1`), `session:` and an id, or `anonymous`.",
  ),
  device_id: describeAs(
    v.nullable(v.string()),
    "The id of the device that acted; null if there is none.",
  ),
  action: describeAs(
    v.string(),
    "The name of an agent's action, or the name of the operation that the operator called.",
  ),
  agent_id: describeAs(
    v.nullable(v.string()),
    "The agent that it concerns; null if it concerns the relay.",
  ),
  detail: describeAs(
    v.nullable(v.string()),
    "More about the action, in plain text; null without it.",
  ),
  result: describeAs(
    v.optional(v.nullable(v.string())),
    "The status or the code of the answer to an operator's action, with `repeated` if an earlier action had the same effect; null if the relay ended before it answered, absent for agents.",
  ),
});
export type OperatorAuditEntry = v.InferInput<typeof OperatorAuditEntry>;

export const operatorAudit = {
  listOperatorAudit: defineOperation({
    method: "GET",
    path: "/api/v1/admin/audit",
    summary: "List the actions of agents and operators, newest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      actor: describeAs(v.optional(shortText), "Only actions of this actor."),
      action: describeAs(v.optional(shortText), "Only actions of this name."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        entries: describeAs(v.array(OperatorAuditEntry), "The actions, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
} as const;
