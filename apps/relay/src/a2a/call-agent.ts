import {
  refuse,
  type Answer,
  type Operations,
  type Refusal,
  type RpcAnswer,
  type RpcCall,
} from "@agent/wire";
import { createEventStream, type ServerSentEvent } from "../http/event-stream.ts";
import type { RequestContext } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { a2aMethods, type StreamEvent } from "./methods.ts";
import { createFault, toRpcError, type A2aFault } from "./rpc-error.ts";
import type { A2aDependencies } from "./submit-message.ts";

type CallAnswer = Answer<Operations["callAgent"]>;

const submittingMethods = ["SendMessage", "SendStreamingMessage", "CancelTask"];

/** Answers a call of A2A 1.0. A refusal becomes a JSON-RPC error that carries the relay's code. */
export async function callAgent(
  services: Services,
  dependencies: A2aDependencies,
  { agentId, call }: { readonly agentId: string; readonly call: RpcCall },
  context: RequestContext,
): Promise<CallAnswer> {
  const { caller, headers, requestId } = context;
  const requiresSubmitScope = submittingMethods.includes(call.method);
  if (requiresSubmitScope && caller.kind === "agent" && !caller.scopes.has("task:submit")) {
    return refuse("auth.scope_missing", "task:submit");
  }
  const { id } = call;
  const toErrorAnswer = (problem: Refusal | A2aFault): RpcAnswer => ({
    jsonrpc: "2.0",
    id,
    error: toRpcError(problem, requestId),
  });
  const method = Object.hasOwn(a2aMethods, call.method) ? a2aMethods[call.method] : undefined;
  const methodCall = { agentId, params: call.params ?? {}, context };
  // A client without the header speaks 0.3, whose methods have other names.
  const outcome =
    headers.get("a2a-version") !== "1.0"
      ? createFault("VERSION_NOT_SUPPORTED")
      : method === undefined
        ? createFault("METHOD_NOT_FOUND")
        : await method(services, methodCall, dependencies);

  if (!outcome.ok) {
    const more = "code" in outcome ? outcome.headers : undefined;
    return {
      status: 200,
      body: toErrorAnswer(outcome),
      ...(more !== undefined && { headers: more }),
    };
  }
  const { result, headers: more } = outcome;
  if (!isStream(result)) {
    const body = { jsonrpc: "2.0" as const, id, result };
    return { status: 200, body, ...(more !== undefined && { headers: more }) };
  }
  const answerOf = (event: Exclude<StreamEvent, null>): RpcAnswer =>
    isRefusal(event) ? toErrorAnswer(event) : { jsonrpc: "2.0", id, result: event };
  return createEventStream(toServerSentEvents(result, answerOf), more && { headers: more });
}

async function* toServerSentEvents(
  events: AsyncIterable<StreamEvent>,
  answerOf: (event: Exclude<StreamEvent, null>) => RpcAnswer,
): AsyncIterable<ServerSentEvent | null> {
  for await (const event of events) yield event === null ? null : { data: answerOf(event) };
}

function isStream(
  result: Record<string, unknown> | AsyncIterable<StreamEvent>,
): result is AsyncIterable<StreamEvent> {
  return Symbol.asyncIterator in result;
}

const isRefusal = (event: Exclude<StreamEvent, null>): event is Refusal => event["ok"] === false;
