import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum, longText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A claim ends at `lease_until` unless it is renewed. */
const ClaimLease = v.object({
  task_id: v.string(),
  status: describeAs(v.literal("claimed"), "Always `claimed`."),
  lease_until: describeAs(
    wholeNumber,
    "The time at which the claim ends unless it is renewed, in ms since the Unix epoch.",
  ),
  cancel_requested_at: describeAs(
    v.optional(wholeNumber),
    "The time at which the submitter asked to stop, in ms since the Unix epoch; the executor may release the claim or continue.",
  ),
});

/** Claims for executors that poll instead of using the socket. */
export const claims = {
  claimTask: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/claim",
    summary: "Claim a pending task for 60 s, or renew the claim of the same device.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    ok: { 200: ClaimLease },
    refusals: ["task.not_found", "task.not_participant", "task.not_pending"],
  }),
  reportProgress: defineOperation({
    method: "POST",
    path: "/agent/:agentId/task/:taskId/progress",
    summary:
      "Renew the claim of this device and report progress with a note; at most 64 KiB of notes are stored per task.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    body: v.object({ note: describeAs(v.optional(longText), "What was done, for the submitter.") }),
    ok: { 200: ClaimLease },
    refusals: ["task.not_found", "task.not_participant", "task.not_claimed"],
  }),
  releaseClaim: defineOperation({
    method: "DELETE",
    path: "/agent/:agentId/task/:taskId/claim",
    summary: "Release the claim of this device; this also accepts a requested cancellation.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    ok: {
      200: v.object({
        task_id: v.string(),
        status: describeAs(
          extensibleEnum(["pending", "cancelled"]),
          "The state of the task: `cancelled` if its submitter had asked to stop.",
        ),
      }),
    },
    refusals: ["task.not_found", "task.not_participant", "task.not_claimed"],
  }),
} as const;
