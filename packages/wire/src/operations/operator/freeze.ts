import * as v from "valibot";
import { longText } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Frozen = v.object({
  frozen: v.boolean(),
  reason: v.nullable(v.string()),
  since: v.nullable(v.number()),
});

export const freeze = {
  freeze: defineOperation({
    method: "POST",
    path: "/api/v1/admin/freeze",
    summary: "Stop everything that writes: other calls are refused, and no task expires meanwhile.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    body: v.object({ reason: v.pipe(longText, v.minLength(1, "has to be non-empty")) }),
    ok: { 200: Frozen },
    refusals: [],
  }),
  unfreeze: defineOperation({
    method: "POST",
    path: "/api/v1/admin/unfreeze",
    summary: "Go on: the time that the relay stood still is added to every open task.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    body: v.object({
      /** Must be true after a restore: what the backup lacks was compared with the world outside. */
      restored: v.optional(v.boolean()),
    }),
    ok: { 200: Frozen },
    refusals: ["request.invalid"],
  }),
} as const;
