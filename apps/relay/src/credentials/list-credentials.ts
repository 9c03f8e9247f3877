import { refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { createPageAnswer, numberDescending } from "../http/paging/page.ts";
import type { Services } from "../services.ts";
import { parseCredential } from "./credential-row.ts";
import { listCredentialsByAgent } from "./store.ts";

type ListCredentials = Operations["listCredentials"];

/** Lists the credentials about an agent, newest first; 404 if there are none. */
export async function listCredentials(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  query: QueryOf<ListCredentials>,
): Promise<Answer<ListCredentials>> {
  const { type } = query;
  const answer = await createPageAnswer(query, {
    order: numberDescending,
    find: (before, limit) =>
      listCredentialsByAgent(storage.read, { agent_id: agentId, type, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({
      agent_id: agentId,
      credentials: rows.map((row) => ({
        credential_id: row.credential_id,
        type: row.type,
        credential: { ...parseCredential(row) },
        issued_at: row.issued_at,
        revoked: row.revoked_at !== null,
      })),
    }),
  });
  // A page after the last one is empty, although credentials exist.
  const isNone = answer.ok && answer.body.credentials.length === 0 && query.cursor === undefined;
  return isNone ? refuse("credential.not_found") : answer;
}
