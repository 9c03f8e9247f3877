import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  createBatchSchema,
  id,
  pathId,
  longText,
  nextCursor,
  nonEmptyShortText,
  pageQuery,
  timestamp,
  wellFormed,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

const ConversationBody = v.object({
  conversation_id: describeAs(
    v.optional(pathId),
    "The id of the conversation; the relay chooses one if absent.",
  ),
  title: describeAs(v.optional(longText, ""), "The title."),
  started_at: describeAs(
    v.optional(timestamp),
    "The time of the start, in ms since the Unix epoch; if absent, the stored one or else now.",
  ),
  last_active_at: describeAs(
    v.optional(timestamp),
    "The time of the last activity, in ms since the Unix epoch; if absent, the stored one or else `started_at`.",
  ),
});

export const Conversation = v.object({
  conversation_id: v.string(),
  agent_id: v.string(),
  title: describeAs(v.string(), "The title."),
  started_at: wholeNumber,
  last_active_at: wholeNumber,
});
export type Conversation = v.InferOutput<typeof Conversation>;

const NewMessage = v.object({
  message_id: describeAs(v.optional(id), "The id of the message; the relay chooses one if absent."),
  role: describeAs(nonEmptyShortText, "The role of the author, such as `user`."),
  content: v.pipe(
    v.string(),
    v.maxBytes(limits.promptBytes, `must be at most ${limits.promptBytes} bytes of UTF-8`),
    wellFormed,
  ),
  created_at: describeAs(
    v.optional(timestamp),
    "The time of creation, in ms since the Unix epoch; now if absent.",
  ),
});
export type NewMessage = v.InferOutput<typeof NewMessage>;

export const Message = v.object({
  message_id: v.string(),
  role: describeAs(v.string(), "The role of the author, such as `user`."),
  content: v.string(),
  created_at: wholeNumber,
});
export type Message = v.InferOutput<typeof Message>;

export const conversations = {
  putConversation: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/conversations",
    summary: "Create a conversation, or update its title and times under its id.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: ConversationBody,
    ok: { 200: Conversation, 201: Conversation },
    refusals: ["agent.not_found"],
  }),
  listConversations: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/conversations",
    summary: "List an agent's conversations, newest first.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        conversations: describeAs(v.array(Conversation), "The conversations, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getConversation: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/conversations/:conversationId",
    summary: "Get a conversation without its messages.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    ok: { 200: Conversation },
    refusals: ["conversation.not_found"],
  }),
  addMessages: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/conversations/:conversationId/messages",
    summary: "Add one or more messages to a conversation; known messages are not added again.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: v.union([
      v.object({
        messages: describeAs(
          createBatchSchema(NewMessage),
          "The messages, which are added together or not at all.",
        ),
      }),
      NewMessage,
    ]),
    ok: {
      201: v.object({ messages: describeAs(v.array(Message), "The messages as they are stored.") }),
    },
    refusals: ["conversation.not_found", "message.id_taken"],
  }),
  listMessages: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/conversations/:conversationId/messages",
    summary: "List a conversation's messages in the order in which they were added.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        messages: describeAs(
          v.array(Message),
          "The messages in the order in which they were added.",
        ),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["conversation.not_found", "request.invalid"],
  }),
} as const;
