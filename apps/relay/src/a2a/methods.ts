import { SendMessageParams, TaskIdParams, type Refusal } from "@agent/wire";
import type { RequestContext } from "../http/mount.ts";
import { validate } from "../http/validate.ts";
import type { Services } from "../services.ts";
import { cancel } from "../tasks/cancel.ts";
import { a2aTask } from "./a2a-task.ts";
import { fault, type A2aFault } from "./rpc-error.ts";
import { submitMessage, type A2aDoors } from "./submission.ts";
import { awaitEnd, findTask, followTask, isOpen, type TaskCall } from "./task-call.ts";

/** Of a stream: a result, the refusal that ends it, or null while nothing happens. */
export type Event = Record<string, unknown> | Refusal | null;

/** What a method comes to: one result, or a stream of them. */
type Outcome =
  | {
      readonly ok: true;
      readonly result: Record<string, unknown> | AsyncIterable<Event>;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | Refusal
  | A2aFault;

interface Call {
  readonly agentId: string;
  readonly params: unknown;
  readonly context: RequestContext;
}

type Method = (services: Services, call: Call, doors: A2aDoors) => Promise<Outcome>;

/** The methods of A2A by name, those that this relay refuses included. */
export const methods: Readonly<Record<string, Method>> = {
  SendMessage: async (services, call, doors) => {
    const sent = await send(services, call, doors);
    if (!sent.ok) return sent;
    const { about, returnImmediately, headers } = sent;
    const found = await (returnImmediately ? findTask : awaitEnd)(services, about);
    return found.ok ? { ok: true, result: { task: a2aTask(found) }, headers } : found;
  },
  SendStreamingMessage: async (services, call, doors) => {
    const sent = await send(services, call, doors);
    if (!sent.ok) return sent;
    const found = await findTask(services, sent.about);
    if (!found.ok) return found;
    return { ok: true, result: followTask(services, sent.about, found), headers: sent.headers };
  },
  GetTask: async (services, call) => {
    const about = aboutTask(call);
    if (!about.ok) return about;
    const found = await findTask(services, about);
    return found.ok ? { ok: true, result: a2aTask(found) } : found;
  },
  SubscribeToTask: async (services, call) => {
    const about = aboutTask(call);
    if (!about.ok) return about;
    const found = await findTask(services, about);
    if (!found.ok) return found;
    if (!isOpen(found)) return fault("UNSUPPORTED_OPERATION", "the task has ended");
    return { ok: true, result: followTask(services, about, found) };
  },
  CancelTask: async (services, call) => {
    const about = aboutTask(call);
    if (!about.ok) return about;
    const { caller } = call.context;
    const cancelled = await cancel(services, { ...about, caller });
    if ("ok" in cancelled) return cancelled;
    const found = await findTask(services, about);
    return found.ok ? { ok: true, result: a2aTask(found) } : found;
  },
  ...Object.fromEntries(
    ["ListTasks", "GetExtendedAgentCard"].map((name) => [
      name,
      async () => fault("UNSUPPORTED_OPERATION", name),
    ]),
  ),
  ...Object.fromEntries(
    ["Create", "Get", "List", "Delete"].map((verb) => [
      `${verb}TaskPushNotificationConfig${verb === "List" ? "s" : ""}`,
      async () => fault("PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ]),
  ),
};

/** Submits the message of a call; what follows is about its task. */
async function send(
  services: Services,
  { agentId, params: given, context }: Call,
  doors: A2aDoors,
) {
  const checked = validate(SendMessageParams, given);
  if (!checked.ok) return checked;
  const params = checked.value as SendMessageParams;
  const sent = await submitMessage(services, doors, { agentId, params }, context);
  if (!sent.ok) return sent;
  const about: TaskCall = { agentId, taskId: sent.taskId, context };
  const { returnImmediately } = params.configuration;
  return { ok: true as const, about, returnImmediately, headers: sent.headers };
}

function aboutTask({ agentId, params, context }: Call) {
  const checked = validate(TaskIdParams, params);
  if (!checked.ok) return checked;
  const { id } = checked.value as TaskIdParams;
  return { ok: true as const, agentId, taskId: id, context };
}
