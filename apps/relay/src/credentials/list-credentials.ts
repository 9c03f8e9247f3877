import { limits, refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Services } from "../services.ts";
import { documentOf } from "./credential-row.ts";
import { credentialsOf } from "./store.ts";

type ListCredentials = Operations["listCredentials"];

/** What is said of an agent, newest first; 404 when that is nothing. */
export async function listCredentials(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  query: QueryOf<ListCredentials>,
): Promise<Answer<ListCredentials>> {
  const cursor = decodeCursor(query.cursor, /^\d+$/);
  if (!cursor.ok) return cursor;
  const limit = query.limit ?? limits.pageDefault;
  const rows = await credentialsOf(storage.read, {
    agent_id: agentId,
    type: query.type,
    before: Number(cursor.value ?? Number.MAX_SAFE_INTEGER),
    limit,
  });
  // The page behind the last one is empty, but there were some.
  if (rows.length === 0 && cursor.value === undefined) return refuse("credential.not_found");
  return {
    status: 200,
    body: {
      agent_id: agentId,
      credentials: rows.map((row) => ({
        credential_id: row.credential_id,
        type: row.type,
        credential: { ...documentOf(row) },
        issued_at: row.issued_at,
        revoked: row.revoked_at !== null,
      })),
      next_cursor: encodeCursor(rows, limit, ({ sequence }) => String(sequence)),
    },
  };
}
