import * as v from "valibot";
import { id, looseObject, price } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** What work costs and under which id it is paid for, on an agent card and in a message's metadata. */
export const DELEGATION_EXTENSION = "urn:agent-delegation:extensions:hire:v1";

const RpcId = v.union([id, v.pipe(v.number(), v.safeInteger("has to be a whole number"))]);

/** A call of A2A 1.0 over JSON-RPC 2.0; one without an `id` could not be answered. */
export const RpcCall = v.object({
  jsonrpc: v.literal("2.0"),
  id: RpcId,
  method: v.string(),
  params: v.optional(looseObject),
});
export type RpcCall = v.InferOutput<typeof RpcCall>;

/** It has a result or an error. */
export const RpcAnswer = v.object({
  jsonrpc: v.literal("2.0"),
  id: RpcId,
  result: v.exactOptional(looseObject),
  error: v.exactOptional(
    v.object({ code: v.number(), message: v.string(), data: v.array(looseObject) }),
  ),
});
export type RpcAnswer = v.InferOutput<typeof RpcAnswer>;

/** A message to an agent: a task's prompt, and by `DELEGATION_EXTENSION` in its metadata the task's terms. */
export const SendMessageParams = v.object({
  message: v.object({
    messageId: id,
    role: v.literal("ROLE_USER"),
    parts: v.pipe(v.array(looseObject), v.minLength(1, "has to hold a part")),
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

/** The parameters of what is asked about one task. */
export const TaskIdParams = v.object({ id });
export type TaskIdParams = v.InferOutput<typeof TaskIdParams>;

export const a2a = {
  relayCard: defineOperation({
    method: "GET",
    path: "/.well-known/agent-card.json",
    summary: "The relay's own agent card (A2A 1.0); its agents have cards of their own.",
    section: "A2A",
    auth: "public",
    tier: "public",
    ok: { 200: looseObject },
    refusals: [],
  }),
  agentCard: defineOperation({
    method: "GET",
    path: "/a2a/:agentId/.well-known/agent-card.json",
    summary: "An agent's card (A2A 1.0): its capabilities as skills, and what they cost.",
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
      "A2A 1.0 over JSON-RPC: `SendMessage`, `SendStreamingMessage`, `GetTask`, `SubscribeToTask`, `CancelTask`. What submits or cancels needs the scope `task:submit` as well.",
    section: "A2A",
    auth: "bearer",
    scope: "task:read",
    tier: "write",
    headers: {
      "A2A-Version": "`1.0`; without it A2A means 0.3, which is refused.",
      "PAYMENT-SIGNATURE": "A payment by x402, as for `submitTask`.",
    },
    body: RpcCall,
    media: ["text/event-stream"],
    ok: { 200: RpcAnswer },
    refusals: ["auth.scope_missing"],
  }),
} as const;
