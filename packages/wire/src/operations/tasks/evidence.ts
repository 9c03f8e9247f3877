import { looseObject } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const evidence = {
  getEvidence: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/evidence",
    summary:
      "All that proves a finished task, signed by the relay; the answer is its own canonical JSON.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    // Its form is that of `@agent/verify`; every byte of it is signed.
    ok: { 200: looseObject },
    rawAnswer: true,
    refusals: ["task.not_found", "task.not_participant", "task.no_receipt", "evidence.too_deep"],
  }),
} as const;
