import * as v from "valibot";
import { capabilities, id, longText, looseObject } from "./engine/fields.ts";
import { Task } from "./operations/tasks/task.ts";

/** The path of the WebSocket for an agent's devices (docs/decisions.md, 4). */
export const SOCKET_PATH = "/ws/v1/agents/:agentId";

/** Close codes of this protocol, in the range that RFC 6455 reserves for applications. */
export const socketClose = { unauthorized: 4401, tooManyMessages: 4429 } as const;

/** A message from an agent's device. */
export const ClientMessage = v.variant("type", [
  v.object({ type: v.literal("auth"), token: v.string() }),
  v.object({ type: v.literal("capabilities"), capabilities }),
  v.object({ type: v.literal("claim"), task_id: id }),
  v.object({ type: v.literal("refuse"), task_id: id, reason: v.optional(longText) }),
  v.object({ type: v.literal("release"), task_id: id }),
  v.object({ type: v.literal("progress"), task_id: id, note: v.optional(longText) }),
  v.object({ type: v.literal("result"), task_id: id, receipt: looseObject }),
  v.object({ type: v.literal("ping") }),
]);
export type ClientMessage = v.InferOutput<typeof ClientMessage>;

/** The members of a message about an inspection before payment; the last two are null until it is closed. */
const inspectionMembers = {
  task_id: v.string(),
  state: v.string(),
  deadline: v.nullable(v.number()),
  outcome: v.nullable(v.string()),
  share: v.nullable(v.number()),
};

/** A message from the relay. */
export const ServerMessage = v.variant("type", [
  v.object({
    type: v.literal("ready"),
    agent_id: v.string(),
    device_id: v.nullable(v.string()),
    pending: v.number(),
  }),
  v.object({ type: v.literal("task_assigned"), task: Task, expires_at: v.number() }),
  v.object({ type: v.literal("task_cancelled"), task_id: v.string() }),
  v.object({ type: v.literal("cancel_requested"), task_id: v.string() }),
  v.object({ type: v.literal("task_inspecting"), ...inspectionMembers }),
  v.object({ type: v.literal("task_rejected"), ...inspectionMembers }),
  v.object({ type: v.literal("task_disputed"), ...inspectionMembers }),
  v.object({ type: v.literal("task_settled"), ...inspectionMembers }),
  v.object({ type: v.literal("claimed"), task_id: v.string(), lease_until: v.number() }),
  v.object({ type: v.literal("result_accepted"), task_id: v.string(), status: v.string() }),
  v.object({
    type: v.literal("result_refused"),
    task_id: v.string(),
    code: v.string(),
    message: v.string(),
  }),
  v.object({
    type: v.literal("error"),
    code: v.string(),
    message: v.string(),
    task_id: v.exactOptional(v.string()),
  }),
  v.object({ type: v.literal("pong") }),
  v.object({ type: v.literal("draining") }),
]);
export type ServerMessage = v.InferOutput<typeof ServerMessage>;
