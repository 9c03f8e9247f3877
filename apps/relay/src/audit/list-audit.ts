import { limits, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Reader } from "../storage/storage.ts";
import { entriesOf } from "./store.ts";

/** Newest first. */
export async function listAudit(
  read: Reader,
  agent_id: string,
  { limit = limits.pageDefault, cursor: given }: QueryOf<Operations["listAudit"]>,
): Promise<Answer<Operations["listAudit"]>> {
  const cursor = decodeCursor(given, /^\d{1,15}$/);
  if (!cursor.ok) return cursor;
  const before = Number(cursor.value ?? Number.MAX_SAFE_INTEGER);
  const entries = await entriesOf(read, { agent_id, before, limit });
  const next_cursor = encodeCursor(entries, limit, ({ sequence }) => String(sequence));
  return { status: 200, body: { entries, next_cursor } };
}
