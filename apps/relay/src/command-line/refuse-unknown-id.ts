import type { CallRefusal, RelayClient } from "@agent/client";

/**
 * Returns the refusal of an id without an agent and without any bookings; undefined for other ids, because
 * money can wait in the account of an agent that is not known yet. A mistyped id must not look like an
 * agent without history.
 */
export async function refuseUnknownId(
  client: RelayClient,
  agentId: string,
): Promise<CallRefusal | undefined> {
  const params = { agentId };
  const agent = await client.getOnlineHistory({ params, query: {} });
  if (agent.ok) return undefined;
  if (agent.code !== "agent.not_found") return agent;
  const account = await client.getBalance({ params });
  if (!account.ok) return account;
  if (account.body.transactions.length > 0) return undefined;
  return {
    ...agent,
    message: `no agent has the id ${agentId}, and no money has ever moved on its account`,
  };
}
