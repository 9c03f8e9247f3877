import { canonicalize, parseJsonText } from "@agent/crypto";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { createPageAnswer, textDescending, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import { parseArchivedReceipt } from "./parse-archived-receipt.ts";
import { findReceipt, listReceiptsOfAgent } from "./receipt-store.ts";

type ArchiveServices = Pick<Services, "storage">;

/** Lists the receipts that an agent signed; they outlast their tasks. */
export async function listReceipts(
  { storage }: ArchiveServices,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listReceipts"]>> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      listReceiptsOfAgent(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ task_id }) => task_id,
    show: (rows) => ({
      receipts: rows.map(({ status, ...row }) => ({ ...row, ...(status !== null && { status }) })),
    }),
  });
}

export async function getReceipt(
  { storage }: ArchiveServices,
  { agentId, taskId }: { readonly agentId: string; readonly taskId: string },
): Promise<Answer<Operations["getReceipt"]>> {
  const archived = await findReceipt(storage.read, taskId);
  return archived?.agent_id === agentId
    ? { status: 200, body: toVerifiableText(archived.body) }
    : refuse("receipt.not_found");
}

/**
 * Returns a text that verifiers accept: the posted one, unless parsers interpret it differently. The relay
 * accepts such a text as most parsers read it, and has paid the work by it.
 */
function toVerifiableText(body: string): string {
  return parseJsonText(body) === null ? canonicalize(parseArchivedReceipt(body)) : body;
}
