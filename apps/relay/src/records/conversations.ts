import {
  refuse,
  type Answer,
  type BodyOf,
  type Conversation,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { createPageAnswer, textDescending } from "../http/paging/page.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { ConversationRow } from "../storage/tables/records.ts";
import {
  listConversationsByAgent,
  findConversation,
  saveConversation,
} from "./conversation-store.ts";

type PutConversation = Operations["putConversation"];

/** Records a conversation; the members given replace those stored under the same id. */
export async function putConversation(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  agent_id: string,
  body: BodyOf<PutConversation>,
): Promise<Answer<PutConversation>> {
  const now = runtime.now();
  const sequence = newId(runtime);
  const { conversation_id = sequence, title } = body;
  return storage.transaction(async (tx) => {
    if ((await findAgent(tx, agent_id)) === undefined) return refuse("agent.not_found");
    const known = await findConversation(tx, { agent_id, conversation_id });
    const started_at = body.started_at ?? known?.started_at ?? now;
    const row: ConversationRow = {
      agent_id,
      conversation_id,
      sequence: known?.sequence ?? sequence,
      title,
      started_at,
      last_active_at: body.last_active_at ?? known?.last_active_at ?? started_at,
    };
    await saveConversation(tx, row, known === undefined);
    const shown = toConversation(row);
    return known === undefined
      ? { status: 201 as const, body: shown }
      : { status: 200 as const, body: shown };
  });
}

export async function getConversation(
  read: Reader,
  { agentId, conversationId }: { agentId: string; conversationId: string },
): Promise<Answer<Operations["getConversation"]>> {
  const key = { agent_id: agentId, conversation_id: conversationId };
  const row = await findConversation(read, key);
  return row === undefined
    ? refuse("conversation.not_found")
    : { status: 200, body: toConversation(row) };
}

/** Lists conversations, newest first. */
export async function listConversations(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listConversations"]>,
): Promise<Answer<Operations["listConversations"]>> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listConversationsByAgent(read, { agent_id, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({ conversations: rows.map(toConversation) }),
  });
}

function toConversation({ sequence: _order, ...row }: ConversationRow): Conversation {
  return row;
}
