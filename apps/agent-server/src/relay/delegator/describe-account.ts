import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";
import { shortenText } from "./shorten-text.ts";

const MAX_TRANSACTIONS = 200;
const MAX_DESCRIPTION = 200;

/** Returns the balance of this agent's account, with the way to a deposit if it is empty. */
export async function describeBalance(
  { client, ownId: agentId, relayUrl }: DelegatorContext,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  const got = await client.getBalance({ params: { agentId } }, { signal });
  if (!got.ok) return toDelegatorRefusal(got);
  const { balance, currency, pending_allocations: held } = got.body;
  return {
    ok: true,
    answer: {
      agent_id: agentId,
      balance,
      currency,
      held,
      ...(balance <= 0 && { how_to_deposit: explainDeposit(agentId, relayUrl) }),
    },
  };
}

/** Explains in plain words how this agent gets money. */
export function explainDeposit(agentId: string, relayUrl: string): string {
  return (
    `To pay for work, this agent needs money in its account. Ask the operator of ${relayUrl} ` +
    `to deposit US dollars for the agent id ${agentId}: ` +
    `POST ${relayUrl.replace(/\/+$/, "")}/api/v1/agents/${agentId}/deposit with {"amount": 10} ` +
    "and the operator's token."
  );
}

/** Returns the newest movements of the account, oldest first. */
export async function describeStatement(
  { client, ownId: agentId }: DelegatorContext,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  const query = { limit: MAX_TRANSACTIONS };
  const got = await client.listTransactions({ params: { agentId }, query }, { signal });
  if (!got.ok) return toDelegatorRefusal(got);
  const { transactions: newest, next_cursor } = got.body;
  const transactions = newest.toReversed().map((one) => ({
    type: one.type,
    amount: one.amount,
    balance_after: one.balance_after,
    reference_id: one.reference_id,
    description: one.description === null ? null : shortenText(one.description, MAX_DESCRIPTION),
    created_at: one.created_at,
  }));
  const closing_balance = newest[0]?.balance_after ?? 0;
  const has_older = next_cursor !== null;
  return {
    ok: true,
    answer: { agent_id: agentId, currency: "USD", transactions, closing_balance, has_older },
  };
}
