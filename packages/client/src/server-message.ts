import { Task, type ServerMessage } from "@agent/wire";
import * as v from "valibot";

const ServerMessageSchema: v.GenericSchema<unknown, ServerMessage> = v.variant("type", [
  v.object({
    type: v.literal("ready"),
    agent_id: v.string(),
    device_id: v.nullable(v.string()),
    pending: v.number(),
  }),
  v.object({ type: v.literal("task_assigned"), task: Task, expires_at: v.number() }),
  v.object({ type: v.literal("task_cancelled"), task_id: v.string() }),
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

/** What the relay said, or null when it is none of the contract's messages: a newer relay may say more. */
export function readServerMessage(text: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = v.safeParse(ServerMessageSchema, value);
  return parsed.success ? parsed.output : null;
}
