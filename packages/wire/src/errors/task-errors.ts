import type { ErrorText } from "./error-text.ts";

/** Refusals about tasks and their routing. */
export const taskErrors = {
  "task.not_found": { status: 404, text: "Task not found or expired" },
  "task.not_participant": { status: 403, text: "Only the task's participants may do this" },
  "task.not_submitter": { status: 403, text: "Only the task's submitter may do this" },
  "routing.not_found": { status: 404, text: "No routing record of this task is stored" },
  "task.already_finished": { status: 409, text: "Task is already finished" },
  "task.not_finished": {
    status: 409,
    text: "Task is open, or its result is still being delivered to another relay",
  },
  "task.not_pending": { status: 409, text: "Task is no longer pending" },
  "task.not_claimed": { status: 409, text: "Task is not claimed by this device" },
  "task.other_process": {
    status: 409,
    text: "Another process with the key of this device has the task",
  },
  "task.no_receipt": { status: 409, text: "Task has no receipt" },
  "task.no_candidate": {
    status: 422,
    text: "Target is excluded or does not list a required capability, and no other agent qualifies",
  },
  "task.id_conflict": {
    status: 409,
    text: "Target's id is claimed under several keys: public_key must name the right one",
  },
  "task.too_deep": { status: 400, text: "Task is more than 10 delegations below the first one" },
  "task.target_blocked": { status: 403, text: "The submitter has blocked the target" },
  "task.target_revoked": { status: 403, text: "The target is revoked" },
  "task.relay_full": { status: 503, text: "Relay has reached its maximum of open tasks" },
  "stream.too_many": { status: 429, text: "Caller has too many open event streams" },
  "task.submitter_full": { status: 429, text: "Submitter has reached its maximum of open tasks" },
} as const satisfies Record<string, ErrorText>;
