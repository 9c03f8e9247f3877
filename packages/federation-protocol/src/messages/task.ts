import { capabilities, count, extensibleEnum, id, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, money, signature, signedObject, uuid } from "../fields.ts";

/** What the worker is told; prompts cross relays here and nowhere else. */
export const TaskPayloadSchema = v.object({
  prompt: v.pipe(v.string(), v.nonEmpty("has to be non-empty"), v.maxLength(262_144)),
  required_capabilities: v.optional(capabilities),
  wall_clock_ms: v.optional(count),
});
export type TaskPayload = v.InferOutput<typeof TaskPayloadSchema>;

/**
 * The body of task/forward. `origin_relay` and `signature` are those of the sending relay,
 * `budget.amount` is what the receiver will be paid, `public_key` is the key of the expected worker.
 */
export const TaskForwardSchema = v.object({
  // What is held for a task is held under its id, so no peer may name it like something else.
  task_id: uuid,
  origin_relay: uuid,
  target_agent: uuid,
  task_payload: TaskPayloadSchema,
  budget: v.object({ amount: money, currency: v.literal("USD") }),
  routing_choice: v.optional(
    v.nullable(
      v.object({
        composite: v.pipe(v.number(), v.finite()),
        path: v.pipe(v.array(id), v.maxLength(16, "has to hold at most 16 entries")),
      }),
    ),
    null,
  ),
  public_key: v.optional(hex32),
  expires_at: v.optional(timestamp),
  /** The forward that the sender got itself, as it came, without its `task_payload`. */
  relayed: v.optional(signedObject),
  ...envelope,
  signature,
});
export type TaskForward = v.InferOutput<typeof TaskForwardSchema>;

export const TaskForwardAnswerSchema = v.object({ task_id: id, status: v.literal("pending") });
export type TaskForwardAnswer = v.InferOutput<typeof TaskForwardAnswerSchema>;

/** The body of task/result: the worker's receipt, and the sending relay's word on it. */
export const TaskResultSchema = v.object({
  task_id: id,
  origin_relay: uuid,
  receipt: signedObject,
  public_key: hex32,
  attestation: signedObject,
  ...envelope,
});
export type TaskResult = v.InferOutput<typeof TaskResultSchema>;

/**
 * `pending`, with status 202: a relay in the middle has not heard from the relay before it yet. An
 * acceptance has the members of `ResultAcceptance` for a peer that names `signed_accepted`, and for one that
 * names `position` the settlement, if the task was settled before.
 */
export const TaskResultAnswerSchema = v.object({
  status: extensibleEnum(["accepted", "pending"]),
  task_id: v.optional(id),
  receipt_hash: v.optional(hex32),
  relay_id: v.optional(uuid),
  timestamp: v.optional(timestamp),
  suite: v.optional(v.string()),
  signature: v.optional(signature),
  settlement: v.optional(signedObject),
});
export type TaskResultAnswer = v.InferInput<typeof TaskResultAnswerSchema>;

/** The body of task/cancel: the relay that sent a task asks the one that has it to cancel it. */
export const TaskCancelSchema = v.object({ task_id: id, origin_relay: uuid, ...envelope });
export type TaskCancel = v.InferOutput<typeof TaskCancelSchema>;

/**
 * What the asked relay signs. `cancelled`: no receipt of the task will come from it any more.
 * `pending`, with status 202: the executor was asked, and has not agreed yet.
 */
export const TaskCancelAnswerSchema = v.object({
  status: extensibleEnum(["cancelled", "pending"]),
  task_id: id,
  relay_id: uuid,
  timestamp,
  suite: v.string(),
  signature,
});
export type TaskCancelAnswer = v.InferInput<typeof TaskCancelAnswerSchema>;
