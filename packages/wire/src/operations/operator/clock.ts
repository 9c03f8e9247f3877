import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const clock = {
  acceptClock: defineOperation({
    method: "POST",
    path: "/api/v1/admin/clock/accept",
    summary: "Accept the wall clock at once after a jump, instead of after 10 minutes.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    ok: {
      200: v.object({
        now: describeAs(wholeNumber, "The time of the relay, in ms since the Unix epoch."),
        moved_ms: describeAs(wholeNumber, "The change of its time, in ms."),
      }),
    },
    refusals: [],
  }),
} as const;
