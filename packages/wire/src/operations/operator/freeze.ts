import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { nonEmptyLongText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Frozen = v.object({
  frozen: describeAs(v.boolean(), "Whether the relay is frozen."),
  reason: describeAs(v.nullable(v.string()), "The reason; null while it is not frozen."),
  since: describeAs(
    v.nullable(wholeNumber),
    "The time when the freeze began, in ms since the Unix epoch; null while it is not.",
  ),
});

/** Whether the relay is frozen, why, since when and by which operator; null where that is unknown. */
export const FreezeReport = v.object({
  ...Frozen.entries,
  by: describeAs(v.nullable(v.string()), "The operator that froze it; null if that is unknown."),
  restored: describeAs(
    v.boolean(),
    "Whether it is frozen because its database was restored from a backup. To unfreeze it, the member `restored` is then required.",
  ),
});
export type FreezeReport = v.InferInput<typeof FreezeReport>;

export const freeze = {
  getFreeze: defineOperation({
    method: "GET",
    path: "/api/v1/admin/freeze",
    summary: "Get the freeze state of the relay with its reason, start and operator.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: FreezeReport },
    refusals: [],
  }),
  freeze: defineOperation({
    method: "POST",
    path: "/api/v1/admin/freeze",
    summary: "Freeze the relay: writes are refused and no task expires until it is unfrozen.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    body: v.object({ reason: describeAs(nonEmptyLongText, "The reason.") }),
    ok: { 200: Frozen },
    refusals: [],
  }),
  unfreeze: defineOperation({
    method: "POST",
    path: "/api/v1/admin/unfreeze",
    summary: "Unfreeze the relay; the frozen time is added to the deadline of every open task.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    body: v.object({
      restored: describeAs(
        v.optional(v.boolean()),
        "Must be true after a restore: the operator has reconciled what the backup lacks.",
      ),
    }),
    ok: { 200: Frozen },
    refusals: ["request.invalid", "server.damaged"],
  }),
} as const;
