import { capabilities, count, describeAs, extensibleEnum, id, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, hex32, money, signature, signedObject, uuid } from "../fields.ts";

/**
 * The executor's instructions; `wall_clock_ms` is the time allowed for the work. No other message between
 * relays contains prompts.
 */
export const TaskPayloadSchema = v.object({
  prompt: v.pipe(v.string(), v.nonEmpty("must be non-empty"), v.maxLength(262_144)),
  required_capabilities: v.optional(capabilities),
  wall_clock_ms: v.optional(count),
});

/** The task inside a forward. */
export type TaskPayload = v.InferOutput<typeof TaskPayloadSchema>;

/**
 * The body of task/forward. `origin_relay` and `signature` are those of the sending relay,
 * `budget.amount` is what the receiver will be paid, and `public_key` is the key of the expected
 * executor. `expires_at` and `timestamp` are in ms since the epoch, by the sender's clock.
 */
export const TaskForwardSchema = v.object({
  // The amount of a task is held under its id, so a peer must not choose the form of that id.
  task_id: uuid,
  origin_relay: uuid,
  target_agent: uuid,
  task_payload: describeAs(TaskPayloadSchema, "The instructions for the executor."),
  budget: describeAs(
    v.object({
      amount: describeAs(money, "The amount that the receiver is paid for the task, in USD."),
      currency: v.literal("USD"),
    }),
    "The payment for the task.",
  ),
  routing_choice: describeAs(
    v.optional(
      v.nullable(
        v.object({
          composite: describeAs(
            v.pipe(v.number(), v.finite()),
            "The score of the chosen agent, from 0 to 1; 0 if another way was used.",
          ),
          path: describeAs(
            v.pipe(v.array(id), v.maxLength(16, "must hold at most 16 entries")),
            "The path to the agent: `self`, `relay:` and the id of each relay on it, then the agent's id.",
          ),
        }),
      ),
      null,
    ),
    "The sender's choice of the agent; null if it states none.",
  ),
  public_key: describeAs(
    v.optional(hex32),
    "The key of the expected executor, as 64 hex digits; a result under another one is refused.",
  ),
  expires_at: v.optional(timestamp),
  depth: v.optional(count),
  relayed: v.optional(signedObject),
  ...envelope,
  signature,
});

/** The body of task/forward. */
export type TaskForward = v.InferOutput<typeof TaskForwardSchema>;

/** The answer to task/forward: the receiving relay has stored the task. */
export const TaskForwardAnswerSchema = v.object({
  task_id: id,
  status: describeAs(v.literal("pending"), "Always `pending`: the receiver has taken the task."),
});

/** The answer to task/forward. */
export type TaskForwardAnswer = v.InferOutput<typeof TaskForwardAnswerSchema>;

/** The body of task/result: the executor's receipt and the sending relay's attestation. */
export const TaskResultSchema = v.object({
  task_id: id,
  origin_relay: uuid,
  receipt: describeAs(signedObject, "The executor's signed receipt."),
  public_key: describeAs(hex32, "The key of the executor, as 64 hex digits."),
  attestation: describeAs(
    signedObject,
    "The sending relay's signed statement that it has the receipt.",
  ),
  ...envelope,
});

/** The body of task/result. */
export type TaskResult = v.InferOutput<typeof TaskResultSchema>;

/**
 * The answer to task/result; `pending` has the status 202. An acceptance has the members of
 * `ResultAcceptance` if the peer names the feature `signed_accepted`. `timestamp` is in ms since the
 * epoch, by the answering relay's clock.
 */
export const TaskResultAnswerSchema = v.object({
  status: describeAs(
    extensibleEnum(["accepted", "pending"]),
    "`accepted`, or `pending` while an intermediate relay has no answer from the previous one.",
  ),
  task_id: v.optional(id),
  receipt_hash: v.optional(hex32),
  relay_id: v.optional(uuid),
  timestamp: v.optional(timestamp),
  suite: v.optional(v.string()),
  signature: v.optional(signature),
  settlement: describeAs(
    v.optional(signedObject),
    "The signed settlement of a task that was paid before; only for a peer with the feature `position`.",
  ),
});

/** The answer to task/result. */
export type TaskResultAnswer = v.InferInput<typeof TaskResultAnswerSchema>;

/** The body of task/cancel: the relay that sent a task asks its receiver to cancel it. */
export const TaskCancelSchema = v.object({ task_id: id, origin_relay: uuid, ...envelope });

/** The body of task/cancel. */
export type TaskCancel = v.InferOutput<typeof TaskCancelSchema>;

/**
 * The signed answer to task/cancel; `pending` has the status 202. `timestamp` is in ms since the epoch, by
 * the answering relay's clock.
 */
export const TaskCancelAnswerSchema = v.object({
  status: describeAs(
    extensibleEnum(["cancelled", "pending"]),
    "`cancelled` if no receipt of the task will be returned, `pending` until the executor has agreed.",
  ),
  task_id: id,
  relay_id: uuid,
  timestamp,
  suite: v.string(),
  signature,
});

/** The answer to task/cancel. */
export type TaskCancelAnswer = v.InferInput<typeof TaskCancelAnswerSchema>;
