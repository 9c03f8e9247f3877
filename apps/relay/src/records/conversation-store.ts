import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ConversationRow, MessageRow } from "../storage/tables/records.ts";

type Key = Pick<ConversationRow, "agent_id" | "conversation_id">;

const conversationByKey = prepare<Key>()(
  db
    .selectFrom("conversations")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("conversation_id", "=", p("conversation_id")),
);

export function findConversation(read: Reader, key: Key): Promise<ConversationRow | undefined> {
  return read.get(conversationByKey, key);
}

const addConversation = prepare<ConversationRow>()(
  db.insertInto("conversations").values({
    agent_id: p("agent_id"),
    conversation_id: p("conversation_id"),
    sequence: p("sequence"),
    title: p("title"),
    started_at: p("started_at"),
    last_active_at: p("last_active_at"),
  }),
);

const changeConversation = prepare<ConversationRow>()(
  db
    .updateTable("conversations")
    .set({ title: p("title"), started_at: p("started_at"), last_active_at: p("last_active_at") })
    .where("agent_id", "=", p("agent_id"))
    .where("conversation_id", "=", p("conversation_id")),
);

export async function writeConversation(
  tx: Tx,
  conversation: ConversationRow,
  isNew: boolean,
): Promise<void> {
  await tx.run(isNew ? addConversation : changeConversation, conversation);
}

const noteActivity = prepare<Key & { at: number }>()(
  db
    .updateTable("conversations")
    .set({ last_active_at: sql`max(last_active_at, ${p("at")})` })
    .where("agent_id", "=", p("agent_id"))
    .where("conversation_id", "=", p("conversation_id")),
);

/** Moves a conversation's last activity forward, never back. */
export async function touchConversation(tx: Tx, active: Key & { at: number }): Promise<void> {
  await tx.run(noteActivity, active);
}

const newestConversations = prepare<{ agent_id: string; before: string; limit: number }>()(
  db
    .selectFrom("conversations")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("sequence", "<", p("before"))
    .orderBy("sequence", "desc")
    .limit(p("limit")),
);

/** Newest first. */
export function conversationsOf(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
): Promise<ConversationRow[]> {
  return read.all(newestConversations, query);
}

const messageById = prepare<Key & { message_id: string }>()(
  db
    .selectFrom("messages")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("conversation_id", "=", p("conversation_id"))
    .where("message_id", "=", p("message_id")),
);

export function findMessage(
  read: Reader,
  key: Key & { message_id: string },
): Promise<MessageRow | undefined> {
  return read.get(messageById, key);
}

const addMessage = prepare<Omit<MessageRow, "sequence">>()(
  sql<never>`
    insert into messages
      (agent_id, conversation_id, sequence, message_id, role, content, created_at)
    select ${p("agent_id")}, ${p("conversation_id")}, coalesce(max(sequence), 0) + 1,
      ${p("message_id")}, ${p("role")}, ${p("content")}, ${p("created_at")}
    from messages
    where agent_id = ${p("agent_id")} and conversation_id = ${p("conversation_id")}`,
);

export async function insertMessage(tx: Tx, message: Omit<MessageRow, "sequence">): Promise<void> {
  await tx.run(addMessage, message);
}

const messagesInOrder = prepare<Key & { after: number; limit: number }>()(
  db
    .selectFrom("messages")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("conversation_id", "=", p("conversation_id"))
    .where("sequence", ">", p("after"))
    .orderBy("sequence")
    .limit(p("limit")),
);

/** In the order in which they were added. */
export function messagesOf(
  read: Reader,
  query: Key & { after: number; limit: number },
): Promise<MessageRow[]> {
  return read.all(messagesInOrder, query);
}
