import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Services } from "../services.ts";
import { recordOf } from "./levels.ts";
import { findTrust, trustRecordsOf } from "./store.ts";

/** What an agent knows of the agents that it delegated to. */
export async function listTrust(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  page: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): Promise<Answer<Operations["listTrust"]>> {
  const cursor = decodeCursor(page.cursor);
  if (!cursor.ok) return cursor;
  const limit = page.limit ?? limits.pageDefault;
  const rows = await trustRecordsOf(storage.read, {
    agent_id: agentId,
    after: cursor.value ?? "",
    limit,
  });
  return {
    status: 200,
    body: {
      records: rows.map(recordOf),
      next_cursor: encodeCursor(rows, limit, (row) => row.remote_agent_id),
    },
  };
}

export async function getTrust(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  remoteId: string,
): Promise<Answer<Operations["getTrust"]>> {
  const row = await findTrust(storage.read, agentId, remoteId);
  return row === undefined ? refuse("trust.not_found") : { status: 200, body: recordOf(row) };
}
