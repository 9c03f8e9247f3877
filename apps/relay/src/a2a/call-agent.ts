import {
  refuse,
  SendMessageParams,
  TaskIdParams,
  type Answer,
  type Operations,
  type Refusal,
  type RpcAnswer,
  type RpcCall,
} from "@agent/wire";
import type { Idempotency } from "../http/idempotency.ts";
import type { RequestContext } from "../http/mount.ts";
import { validate } from "../http/validate.ts";
import type { Services } from "../services.ts";
import { cancel } from "../tasks/cancel.ts";
import { keepAlive, streamHeaders } from "../tasks/stream-events.ts";
import { a2aTask } from "./a2a-task.ts";
import { fault, rpcError, type A2aFault } from "./rpc-error.ts";
import { submitMessage } from "./submission.ts";
import { awaitEnd, findTask, followTask, isOpen, type TaskCall } from "./task-call.ts";

type Answered = Answer<Operations["callAgent"]>;
type Event = Record<string, unknown> | Refusal | null;

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

type Method = (services: Services, call: Call, idempotency: Idempotency) => Promise<Outcome>;

const methods: Readonly<Record<string, Method>> = {
  SendMessage: async (services, call, idempotency) => {
    const sent = await send(services, call, idempotency);
    if (!sent.ok) return sent;
    const { about, returnImmediately, headers } = sent;
    const found = await (returnImmediately ? findTask : awaitEnd)(services, about);
    return found.ok ? { ok: true, result: { task: a2aTask(found) }, headers } : found;
  },
  SendStreamingMessage: async (services, call, idempotency) => {
    const sent = await send(services, call, idempotency);
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

const submitting = ["SendMessage", "SendStreamingMessage", "CancelTask"];

/** Answers a call of A2A 1.0: what the relay refuses is an error within JSON-RPC, with our code in it. */
export async function callAgent(
  services: Services,
  idempotency: Idempotency,
  { agentId, call }: { readonly agentId: string; readonly call: RpcCall },
  context: RequestContext,
): Promise<Answered> {
  const { caller, headers, requestId } = context;
  const needsSubmit = submitting.includes(call.method);
  if (needsSubmit && caller.kind === "agent" && !caller.scopes.has("task:submit")) {
    return refuse("auth.scope_missing", "task:submit");
  }
  const { id } = call;
  const failed = (problem: Refusal | A2aFault): RpcAnswer => ({
    jsonrpc: "2.0",
    id,
    error: rpcError(problem, requestId),
  });
  const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
  const asked = { agentId, params: call.params ?? {}, context };
  // Without the header a client means 0.3, which named its methods otherwise.
  const outcome =
    headers.get("a2a-version") !== "1.0"
      ? fault("VERSION_NOT_SUPPORTED")
      : method === undefined
        ? fault("METHOD_NOT_FOUND")
        : await method(services, asked, idempotency);

  if (!outcome.ok) {
    const more = "code" in outcome ? outcome.headers : undefined;
    return { status: 200, body: failed(outcome), ...(more !== undefined && { headers: more }) };
  }
  const { result, headers: more } = outcome;
  if (!isStream(result)) {
    const body = { jsonrpc: "2.0" as const, id, result };
    return { status: 200, body, ...(more !== undefined && { headers: more }) };
  }
  const answerOf = (event: Exclude<Event, null>): RpcAnswer =>
    isRefusal(event) ? failed(event) : { jsonrpc: "2.0", id, result: event };
  return {
    status: 200,
    mediaType: "text/event-stream",
    content: asText(result, answerOf),
    headers: { ...streamHeaders, ...more },
  };
}

async function* asText(
  events: AsyncIterable<Event>,
  answerOf: (event: Exclude<Event, null>) => RpcAnswer,
): AsyncIterable<string> {
  for await (const event of events) {
    yield event === null ? keepAlive : `data: ${JSON.stringify(answerOf(event))}\n\n`;
  }
}

function isStream(
  result: Record<string, unknown> | AsyncIterable<Event>,
): result is AsyncIterable<Event> {
  return Symbol.asyncIterator in result;
}

const isRefusal = (event: Exclude<Event, null>): event is Refusal => event["ok"] === false;

/** Submits the message of a call; what follows is about its task. */
async function send(
  services: Services,
  { agentId, params: given, context }: Call,
  idempotency: Idempotency,
) {
  const checked = validate(SendMessageParams, given);
  if (!checked.ok) return checked;
  const params = checked.value as SendMessageParams;
  const sent = await submitMessage(services, idempotency, { agentId, params }, context);
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
