import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  extensibleEnum,
  money,
  nextCursor,
  pageQuery,
  timeText,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/**
 * Money that is reserved for a task: while it is `open`, while it is inspected before payment, as the
 * executor's bond in a dispute, or until another relay has settled.
 */
export const Hold = v.object({
  task_id: v.string(),
  payer_id: describeAs(
    v.string(),
    "The agent that owns the money, or `relay:` and the id of the relay that forwarded the task.",
  ),
  amount: money,
  since: describeAs(wholeNumber, "The time from which it is held, in ms since the Unix epoch."),
  until: describeAs(
    v.nullable(wholeNumber),
    "The end of the task, or the deadline of its inspection, in ms since the Unix epoch; null while another relay must settle.",
  ),
  state: describeAs(
    extensibleEnum(["open", "inspected", "bond", "awaiting_peer"]),
    "The reason why it is held.",
  ),
});
export type Hold = v.InferInput<typeof Hold>;

export const holds = {
  listHolds: defineOperation({
    method: "GET",
    path: "/api/v1/admin/holds",
    summary: "List the money that is held for tasks, oldest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      older_than: describeAs(v.optional(timeText), "Only holds of at least this age, in ms."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        holds: describeAs(v.array(Hold), "The holds, oldest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
} as const;
