import { refuse, type Answer, type Operations } from "@agent/wire";
import { createPageAnswer, textAscending, type PageQuery } from "../http/paging/page.ts";
import type { Services } from "../services.ts";
import { toTrustRecord } from "./levels.ts";
import { findTrust, listTrustOfExecutor, listTrustRecords } from "./store.ts";

/** Lists an agent's trust in the agents that it has delegated to. */
export async function listTrust(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listTrust"]>> {
  return createPageAnswer(query, {
    order: textAscending,
    find: (after, limit) => listTrustRecords(storage.read, { agent_id: agentId, after, limit }),
    keyOf: ({ remote_agent_id }) => remote_agent_id,
    show: (rows) => ({ records: rows.map(toTrustRecord) }),
  });
}

/** Lists the trust that delegators have in an agent, for the operator. */
export async function listTrustReceived(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  query: PageQuery,
): Promise<Answer<Operations["listTrustReceived"]>> {
  return createPageAnswer(query, {
    order: textAscending,
    find: (after, limit) =>
      listTrustOfExecutor(storage.read, { remote_agent_id: agentId, after, limit }),
    keyOf: ({ agent_id }) => agent_id,
    show: (rows) => ({ records: rows.map(toTrustRecord) }),
  });
}

export async function getTrust(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  remoteId: string,
): Promise<Answer<Operations["getTrust"]>> {
  const row = await findTrust(storage.read, agentId, remoteId);
  return row === undefined ? refuse("trust.not_found") : { status: 200, body: toTrustRecord(row) };
}
