import * as v from "valibot";
import { extensibleEnum, money, nextCursor, pageQuery, timeText } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** Money that is reserved for a task. */
export const Hold = v.object({
  task_id: v.string(),
  /** An agent, or `relay:` and the id of the relay that forwarded the task. */
  payer_id: v.string(),
  amount: money,
  since: v.number(),
  /** The end of the task; null for a hold that waits for another relay. */
  until: v.nullable(v.number()),
  state: extensibleEnum(["open", "awaiting_peer"]),
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
      /** Only holds of at least this age, in ms. */
      older_than: v.optional(timeText),
      ...pageQuery,
    }),
    ok: { 200: v.object({ holds: v.array(Hold), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
} as const;
