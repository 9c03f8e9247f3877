import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Services } from "../services.ts";
import { receiptsOf } from "./archive-store.ts";
import { findReceipt } from "./store.ts";

type Reading = Pick<Services, "storage">;

/** The receipts that an agent signed; they are kept longer than their tasks. */
export async function listReceipts(
  { storage }: Reading,
  agentId: string,
  page: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): Promise<Answer<Operations["listReceipts"]>> {
  const cursor = decodeCursor(page.cursor);
  if (!cursor.ok) return cursor;
  const limit = page.limit ?? limits.pageDefault;
  const rows = await receiptsOf(storage.read, {
    agent_id: agentId,
    before: cursor.value ?? "~",
    limit,
  });
  return {
    status: 200,
    body: {
      receipts: rows.map(({ status, ...row }) => ({ ...row, ...(status !== null && { status }) })),
      next_cursor: encodeCursor(rows, limit, ({ task_id }) => task_id),
    },
  };
}

export async function getReceipt(
  { storage }: Reading,
  { agentId, taskId }: { readonly agentId: string; readonly taskId: string },
): Promise<Answer<Operations["getReceipt"]>> {
  const archived = await findReceipt(storage.read, taskId);
  return archived?.agent_id === agentId
    ? { status: 200, body: archived.body }
    : refuse("receipt.not_found");
}
