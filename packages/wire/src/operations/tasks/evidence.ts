import { looseObject } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const evidence = {
  getEvidence: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/evidence",
    summary: "Get all evidence of a finished task, signed by the relay, as canonical JSON.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    // `@agent/verify` defines the format, and the signature covers every byte of it.
    ok: { 200: looseObject },
    rawAnswer: true,
    refusals: ["task.not_found", "task.not_participant", "task.no_receipt"],
  }),
} as const;
