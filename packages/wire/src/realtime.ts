import * as v from "valibot";
import { capabilities, id, longText, looseObject } from "./fields.ts";
import type { Task } from "./tasks.ts";

/** Where an agent's devices connect for tasks in real time (docs/decisions.md, 4). */
export const socketPath = "/ws/v1/agents/:agentId";

/** Close codes of our own, in the range that RFC 6455 leaves to applications. */
export const socketClose = { unauthorized: 4401, tooManyMessages: 4429 } as const;

/** What an agent's device may say. */
export const ClientMessage = v.variant("type", [
  v.object({ type: v.literal("auth"), token: v.string() }),
  v.object({ type: v.literal("capabilities"), capabilities }),
  v.object({ type: v.literal("claim"), task_id: id }),
  v.object({ type: v.literal("refuse"), task_id: id, reason: v.optional(longText) }),
  v.object({ type: v.literal("progress"), task_id: id, note: v.optional(longText) }),
  v.object({ type: v.literal("result"), task_id: id, receipt: looseObject }),
  v.object({ type: v.literal("ping") }),
]);
export type ClientMessage = v.InferOutput<typeof ClientMessage>;

/** What the relay says. */
export type ServerMessage =
  | { type: "ready"; agent_id: string; device_id: string | null; pending: number }
  | { type: "task_assigned"; task: Task; expires_at: number }
  | { type: "task_cancelled"; task_id: string }
  | { type: "claimed"; task_id: string; lease_until: number }
  | { type: "result_accepted"; task_id: string; status: string }
  | { type: "result_refused"; task_id: string; code: string; message: string }
  | { type: "error"; code: string; message: string; task_id?: string }
  | { type: "pong" }
  | { type: "draining" };
