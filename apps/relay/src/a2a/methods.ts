import { SendMessageParams, TaskIdParams, type Refusal } from "@agent/wire";
import type { RequestContext } from "../http/handler.ts";
import { validate } from "../http/server/validate.ts";
import type { Services } from "../services.ts";
import { cancelTask } from "../tasks/assignment/cancel-task.ts";
import { acquireStreamSlot } from "../tasks/reading/stream-events.ts";
import type { StreamSlot } from "../tasks/reading/stream-slots.ts";
import { cutStalledStream } from "../http/cut-stalled-stream.ts";
import { toA2aTask, type TaskSnapshot } from "./to-a2a-task.ts";
import { createFault, type A2aFault } from "./rpc-error.ts";
import { submitMessage, type A2aDependencies } from "./submit-message.ts";
import {
  waitForCompletion,
  pollTask,
  streamTask,
  isUnfinished,
  type TaskCall,
} from "./task-call.ts";

/** An item of a stream: a result, the refusal that ends it, or null as a keep-alive. */
export type StreamEvent = Record<string, unknown> | Refusal | null;

/** The outcome of a method: one result, or a stream of them. */
type MethodOutcome =
  | {
      readonly ok: true;
      readonly result: Record<string, unknown> | AsyncIterable<StreamEvent>;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | Refusal
  | A2aFault;

interface MethodCall {
  readonly agentId: string;
  readonly params: unknown;
  readonly context: RequestContext;
}

type A2aMethod = (
  services: Services,
  call: MethodCall,
  dependencies: A2aDependencies,
) => Promise<MethodOutcome>;

/** The methods of A2A by name, including those that this relay refuses. */
export const a2aMethods: Readonly<Record<string, A2aMethod>> = {
  SendMessage: async (services, call, dependencies) => {
    const sent = await submitCall(services, call, dependencies);
    if (!sent.ok) return sent;
    const { about, returnImmediately, headers } = sent;
    const found = await (returnImmediately ? pollTask : waitForCompletion)(services, about);
    return found.ok ? { ok: true, result: { task: toA2aTask(found) }, headers } : found;
  },
  SendStreamingMessage: async (services, call, dependencies) => {
    // Refused before the task exists and is paid for.
    const slot = services.streamSlots.take(call.context.caller);
    if (!slot.ok) return slot;
    let opened: MethodOutcome | undefined;
    try {
      opened = await openSubmittedStream(services, call, dependencies, slot);
    } finally {
      if (opened?.ok !== true) slot.free();
    }
    return opened;
  },
  GetTask: async (services, call) => {
    const about = parseTaskCall(call);
    if (!about.ok) return about;
    const found = await pollTask(services, about);
    return found.ok ? { ok: true, result: toA2aTask(found) } : found;
  },
  SubscribeToTask: async (services, call) => {
    const about = parseTaskCall(call);
    if (!about.ok) return about;
    const found = await pollTask(services, about);
    if (!found.ok) return found;
    if (!isUnfinished(found)) return createFault("UNSUPPORTED_OPERATION", "task has ended");
    const { taskId } = about;
    const slot = acquireStreamSlot(services, { caller: about.context.caller, taskId });
    if (!slot.ok) return slot;
    return { ok: true, result: openTaskStream(services, about, found, slot) };
  },
  CancelTask: async (services, call) => {
    const about = parseTaskCall(call);
    if (!about.ok) return about;
    const { caller } = call.context;
    const cancelled = await cancelTask(services, { ...about, caller });
    if (cancelled.ok === false) return cancelled;
    const found = await pollTask(services, about);
    return found.ok ? { ok: true, result: toA2aTask(found) } : found;
  },
  ...Object.fromEntries(
    ["ListTasks", "GetExtendedAgentCard"].map((name) => [
      name,
      async () => createFault("UNSUPPORTED_OPERATION", name),
    ]),
  ),
  ...Object.fromEntries(
    ["Create", "Get", "List", "Delete"].map((verb) => [
      `${verb}TaskPushNotificationConfig${verb === "List" ? "s" : ""}`,
      async () => createFault("PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ]),
  ),
};

/** Submits a message and streams its task in a stream slot that was acquired before. */
async function openSubmittedStream(
  services: Services,
  call: MethodCall,
  dependencies: A2aDependencies,
  slot: StreamSlot,
): Promise<MethodOutcome> {
  const sent = await submitCall(services, call, dependencies);
  if (!sent.ok) return sent;
  const { about, headers } = sent;
  // Only a message that was sent before can have a task with other streams.
  const refused = slot.assign(about.taskId);
  if (refused !== undefined) return refused;
  const found = await pollTask(services, about);
  if (!found.ok) return found;
  return { ok: true, result: openTaskStream(services, about, found, slot), headers };
}

function openTaskStream(
  services: Services,
  about: TaskCall,
  found: TaskSnapshot,
  slot: StreamSlot,
): AsyncIterable<StreamEvent> {
  const { signal } = about.context;
  return cutStalledStream(streamTask(services, about, found), services.runtime, {
    signal,
    ended: slot.free,
  });
}

/** Submits the message of a call; the rest of the call concerns its task. */
async function submitCall(
  services: Services,
  { agentId, params: given, context }: MethodCall,
  dependencies: A2aDependencies,
) {
  const checked = validate(SendMessageParams, given);
  if (!checked.ok) return checked;
  const params = checked.value as SendMessageParams;
  const sent = await submitMessage(services, dependencies, { agentId, params }, context);
  if (!sent.ok) return sent;
  const about: TaskCall = { agentId, taskId: sent.taskId, context };
  const { returnImmediately } = params.configuration;
  return { ok: true as const, about, returnImmediately, headers: sent.headers };
}

function parseTaskCall({ agentId, params, context }: MethodCall) {
  const checked = validate(TaskIdParams, params);
  if (!checked.ok) return checked;
  const { id } = checked.value as TaskIdParams;
  return { ok: true as const, agentId, taskId: id, context };
}
