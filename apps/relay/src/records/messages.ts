import {
  refuse,
  type Answer,
  type BodyOf,
  type Message,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { numberAscending, createPageAnswer } from "../http/paging/page.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { MessageRow } from "../storage/tables/records.ts";
import {
  findConversation,
  findMessage,
  insertMessage,
  listMessagesInOrder,
  touchConversation,
} from "./conversation-store.ts";

type AddMessages = Operations["addMessages"];

interface ConversationRef {
  readonly agentId: string;
  readonly conversationId: string;
}

/** Adds messages to a conversation, all or none; a message that is already stored keeps its position. */
export async function addMessages(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { agentId, conversationId }: ConversationRef,
  body: BodyOf<AddMessages>,
): Promise<Answer<AddMessages>> {
  const now = runtime.now();
  const key = { agent_id: agentId, conversation_id: conversationId };
  const given = "messages" in body ? body.messages : [body];
  const named = given.map(({ role, content, ...one }) => ({
    message_id: one.message_id ?? newId(runtime),
    role,
    content,
    created_at: one.created_at,
  }));
  return storage.transaction(async (tx) => {
    if ((await findConversation(tx, key)) === undefined) return refuse("conversation.not_found");
    const messages: Message[] = [];
    for (const { created_at, ...message } of named) {
      const known = await findMessage(tx, { ...key, message_id: message.message_id });
      if (known === undefined) {
        const row = { ...key, ...message, created_at: created_at ?? now };
        await insertMessage(tx, row);
        messages.push(toMessage(row));
      } else if (
        known.role === message.role &&
        known.content === message.content &&
        (created_at === undefined || created_at === known.created_at)
      ) {
        messages.push(toMessage(known));
      } else return refuse("message.id_taken");
    }
    await touchConversation(tx, { ...key, at: Math.max(...messages.map((m) => m.created_at)) });
    return { status: 201 as const, body: { messages } };
  });
}

/** Lists messages in the order in which they were added. */
export async function listMessages(
  read: Reader,
  { agentId, conversationId }: ConversationRef,
  query: QueryOf<Operations["listMessages"]>,
): Promise<Answer<Operations["listMessages"]>> {
  const key = { agent_id: agentId, conversation_id: conversationId };
  const answer = await createPageAnswer(query, {
    order: numberAscending,
    find: (after, limit) => listMessagesInOrder(read, { ...key, after, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({ messages: rows.map(toMessage) }),
  });
  return !answer.ok || (await findConversation(read, key)) !== undefined
    ? answer
    : refuse("conversation.not_found");
}

function toMessage({
  message_id,
  role,
  content,
  created_at,
}: Omit<MessageRow, "sequence">): Message {
  return { message_id, role, content, created_at };
}
