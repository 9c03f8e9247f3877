import { capabilities, count, extensibleEnum, id, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, money, signature, signedObject, uuid } from "../fields.ts";

/** The worker's instructions. Prompts cross relays in no other message. */
export const TaskPayloadSchema = v.object({
  prompt: v.pipe(v.string(), v.nonEmpty("must be non-empty"), v.maxLength(262_144)),
  required_capabilities: v.optional(capabilities),
  wall_clock_ms: v.optional(count),
});
export type TaskPayload = v.InferOutput<typeof TaskPayloadSchema>;

/**
 * The body of task/forward. `origin_relay` and `signature` are those of the sending relay,
 * `budget.amount` is what the receiver will be paid, and `public_key` is the key of the expected
 * worker.
 */
export const TaskForwardSchema = v.object({
  // The amount of a task is held under its id, so a peer must not choose the form of that id.
  task_id: uuid,
  origin_relay: uuid,
  target_agent: uuid,
  task_payload: TaskPayloadSchema,
  budget: v.object({ amount: money, currency: v.literal("USD") }),
  routing_choice: v.optional(
    v.nullable(
      v.object({
        composite: v.pipe(v.number(), v.finite()),
        path: v.pipe(v.array(id), v.maxLength(16, "must hold at most 16 entries")),
      }),
    ),
    null,
  ),
  public_key: v.optional(hex32),
  expires_at: v.optional(timestamp),
  /** The number of tasks above this one, as far as the sender knows them; 0 without it. */
  depth: v.optional(count),
  /** The forward that the sender received itself, with all its members but `task_payload`. */
  relayed: v.optional(signedObject),
  ...envelope,
  signature,
});
export type TaskForward = v.InferOutput<typeof TaskForwardSchema>;

export const TaskForwardAnswerSchema = v.object({ task_id: id, status: v.literal("pending") });
export type TaskForwardAnswer = v.InferOutput<typeof TaskForwardAnswerSchema>;

/** The body of task/result: the worker's receipt and the sending relay's attestation. */
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
 * The answer to task/result. `pending`, with status 202: an intermediate relay has no answer from
 * the previous relay yet. An acceptance has the members of `ResultAcceptance` if the peer names the
 * feature `signed_accepted`, and the settlement of a task that was settled before if it names
 * `position`.
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

/** The body of task/cancel: the relay that sent a task asks its receiver to cancel it. */
export const TaskCancelSchema = v.object({ task_id: id, origin_relay: uuid, ...envelope });
export type TaskCancel = v.InferOutput<typeof TaskCancelSchema>;

/**
 * The signed answer to task/cancel. `cancelled`: this relay will return no receipt of the task.
 * `pending`, with status 202: the executor was asked and has not agreed yet.
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
