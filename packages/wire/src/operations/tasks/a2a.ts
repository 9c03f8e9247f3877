import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { id, looseObject, price, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The extension for price and payer, on an agent card and in the metadata of a message. */
export const DELEGATION_EXTENSION = "urn:agent-delegation:extensions:hire:v1";

const RpcId = v.union([id, v.pipe(v.number(), v.safeInteger("must be a whole number"))]);

/** A call of A2A 1.0 over JSON-RPC 2.0; `id` is required because a notification has no response. */
export const RpcCall = v.object({
  jsonrpc: describeAs(v.literal("2.0"), "The version of JSON-RPC."),
  id: describeAs(RpcId, "The id of the call, which the response repeats."),
  method: describeAs(v.string(), "The name of the A2A method."),
  params: describeAs(v.optional(looseObject), "The parameters of the method."),
});
export type RpcCall = v.InferOutput<typeof RpcCall>;

/** A response of JSON-RPC 2.0, with either a result or an error. */
export const RpcAnswer = v.object({
  jsonrpc: describeAs(v.literal("2.0"), "The version of JSON-RPC."),
  id: describeAs(RpcId, "The id of the call."),
  result: describeAs(v.exactOptional(looseObject), "The result; absent if the call failed."),
  error: describeAs(
    v.exactOptional(
      v.object({
        code: describeAs(wholeNumber, "The code of JSON-RPC or A2A for the error."),
        message: describeAs(v.string(), "The text of the error."),
        data: describeAs(v.array(looseObject), "Details of the error."),
      }),
    ),
    "The error; absent if the call succeeded.",
  ),
});
export type RpcAnswer = v.InferOutput<typeof RpcAnswer>;

/** A message to an agent: the prompt of a task and, in its metadata, the terms of the task. */
export const SendMessageParams = v.object({
  message: v.object({
    messageId: id,
    role: v.literal("ROLE_USER"),
    parts: v.pipe(v.array(looseObject), v.minLength(1, "must contain at least one part")),
    contextId: v.optional(v.string(), ""),
    taskId: v.optional(v.string(), ""),
    metadata: v.optional(
      v.object({
        max_budget: v.optional(price),
        [DELEGATION_EXTENSION]: v.optional(looseObject, {}),
      }),
      {},
    ),
  }),
  configuration: v.optional(
    v.object({
      returnImmediately: v.optional(v.boolean(), false),
      taskPushNotificationConfig: v.optional(looseObject),
    }),
    {},
  ),
});
export type SendMessageParams = v.InferOutput<typeof SendMessageParams>;

/** The parameters of a method that refers to one task. */
export const TaskIdParams = v.object({ id });
export type TaskIdParams = v.InferOutput<typeof TaskIdParams>;

export const a2a = {
  relayCard: defineOperation({
    method: "GET",
    path: "/.well-known/agent-card.json",
    summary: "Get the relay's own agent card (A2A 1.0); each agent has its own card.",
    section: "A2A",
    auth: "public",
    tier: "public",
    ok: { 200: looseObject },
    refusals: [],
  }),
  agentCard: defineOperation({
    method: "GET",
    path: "/a2a/:agentId/.well-known/agent-card.json",
    summary: "Get an agent's card (A2A 1.0) with its capabilities as skills and their prices.",
    section: "A2A",
    auth: "public",
    readsCaller: true,
    tier: "read",
    ok: { 200: looseObject },
    refusals: ["agent.not_found"],
  }),
  callAgent: defineOperation({
    method: "POST",
    path: "/a2a/:agentId",
    summary:
      "Call an agent by A2A 1.0 over JSON-RPC: `SendMessage`, `SendStreamingMessage`, `GetTask`, `SubscribeToTask`, `CancelTask`. Methods that submit or cancel also need the scope `task:submit`.",
    section: "A2A",
    auth: "bearer",
    audited: "always",
    scope: "task:read",
    tier: "write",
    headers: {
      "A2A-Version": "Must be `1.0`; a request without it means version 0.3, which is refused.",
      "PAYMENT-SIGNATURE": "An x402 payment, as for `submitTask`.",
    },
    body: RpcCall,
    media: ["text/event-stream"],
    ok: { 200: RpcAnswer },
    refusals: ["auth.scope_missing"],
  }),
} as const;
