import {
  refuse,
  type Answer,
  type Operations,
  type Refusal,
  type RpcAnswer,
  type RpcCall,
} from "@agent/wire";
import type { RequestContext } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { keepAlive, streamHeaders } from "../tasks/stream-events.ts";
import { methods, type Event } from "./methods.ts";
import { fault, rpcError, type A2aFault } from "./rpc-error.ts";
import type { A2aDoors } from "./submission.ts";

type Answered = Answer<Operations["callAgent"]>;

const submitting = ["SendMessage", "SendStreamingMessage", "CancelTask"];

/** Answers a call of A2A 1.0: what the relay refuses is an error within JSON-RPC, with our code in it. */
export async function callAgent(
  services: Services,
  doors: A2aDoors,
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
        : await method(services, asked, doors);

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
