import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { largerOf } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ConversationRow, MessageRow } from "../storage/tables/records.ts";

type ConversationKey = Pick<ConversationRow, "agent_id" | "conversation_id">;

const conversationByKey = compile<ConversationKey>()(
  queryBuilder
    .selectFrom("conversations")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("conversation_id", "=", param("conversation_id")),
);

export function findConversation(
  read: Reader,
  key: ConversationKey,
): Promise<ConversationRow | undefined> {
  return read.get(conversationByKey, key);
}

const insertConversationQuery = compile<ConversationRow>()(
  queryBuilder
    .insertInto("conversations")
    .values(
      params("agent_id", "conversation_id", "sequence", "title", "started_at", "last_active_at"),
    ),
);

const updateConversationQuery = compile<ConversationRow>()(
  queryBuilder
    .updateTable("conversations")
    .set(params("title", "started_at", "last_active_at"))
    .where("agent_id", "=", param("agent_id"))
    .where("conversation_id", "=", param("conversation_id")),
);

export async function saveConversation(
  tx: Tx,
  conversation: ConversationRow,
  isNew: boolean,
): Promise<void> {
  await tx.run(isNew ? insertConversationQuery : updateConversationQuery, conversation);
}

const touchConversationQuery = compile<ConversationKey & { at: number }>()(
  queryBuilder
    .updateTable("conversations")
    .set({ last_active_at: largerOf(sql.ref("last_active_at"), param("at")) })
    .where("agent_id", "=", param("agent_id"))
    .where("conversation_id", "=", param("conversation_id")),
);

/** Moves a conversation's last activity forward, never back. */
export async function touchConversation(
  tx: Tx,
  active: ConversationKey & { at: number },
): Promise<void> {
  await tx.run(touchConversationQuery, active);
}

const newestConversations = compile<{ agent_id: string; before: string; limit: number }>()(
  queryBuilder
    .selectFrom("conversations")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("sequence", "<", param("before"))
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists conversations, newest first. */
export function listConversationsByAgent(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
): Promise<ConversationRow[]> {
  return read.all(newestConversations, query);
}

const messageById = compile<ConversationKey & { message_id: string }>()(
  queryBuilder
    .selectFrom("messages")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("conversation_id", "=", param("conversation_id"))
    .where("message_id", "=", param("message_id")),
);

export function findMessage(
  read: Reader,
  key: ConversationKey & { message_id: string },
): Promise<MessageRow | undefined> {
  return read.get(messageById, key);
}

const insertMessageQuery = compile<Omit<MessageRow, "sequence">>()(
  sql<never>`
    insert into messages
      (agent_id, conversation_id, sequence, message_id, role, content, created_at)
    select ${param("agent_id")}, ${param("conversation_id")}, coalesce(max(sequence), 0) + 1,
      ${param("message_id")}, ${param("role")}, ${param("content")}, ${param("created_at")}
    from messages
    where agent_id = ${param("agent_id")} and conversation_id = ${param("conversation_id")}`,
);

export async function insertMessage(tx: Tx, message: Omit<MessageRow, "sequence">): Promise<void> {
  await tx.run(insertMessageQuery, message);
}

const messagesInOrder = compile<ConversationKey & { after: number; limit: number }>()(
  queryBuilder
    .selectFrom("messages")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("conversation_id", "=", param("conversation_id"))
    .where("sequence", ">", param("after"))
    .orderBy("sequence")
    .limit(param("limit")),
);

/** Lists messages in the order in which they were added. */
export function listMessagesInOrder(
  read: Reader,
  query: ConversationKey & { after: number; limit: number },
): Promise<MessageRow[]> {
  return read.all(messagesInOrder, query);
}
