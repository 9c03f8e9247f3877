import * as v from "valibot";
import { extensibleEnum, longText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A claim ends at `lease_until` unless it is renewed. */
const ClaimLease = v.object({
  task_id: v.string(),
  status: v.literal("claimed"),
  lease_until: wholeNumber,
  /** The time at which the submitter asked to stop; the executor may release the claim or continue. */
  cancel_requested_at: v.optional(wholeNumber),
});

/** Claims for workers that poll instead of using the socket. */
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
      "Renew the claim of this device and report progress with a note; the notes of a task are stored up to 64 KiB together.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    body: v.object({ note: v.optional(longText) }),
    ok: { 200: ClaimLease },
    refusals: ["task.not_found", "task.not_participant", "task.not_claimed"],
  }),
  releaseClaim: defineOperation({
    method: "DELETE",
    path: "/agent/:agentId/task/:taskId/claim",
    summary: "Release the claim of this device, which also accepts a requested cancel.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:result",
    tier: "write",
    ok: {
      200: v.object({ task_id: v.string(), status: extensibleEnum(["pending", "cancelled"]) }),
    },
    refusals: ["task.not_found", "task.not_participant", "task.not_claimed"],
  }),
} as const;
