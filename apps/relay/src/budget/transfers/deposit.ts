import { accountOf, toDollars, toMicro } from "@agent/budget";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { listKnownAgents } from "../../agents/store.ts";
import type { Answer, BodyOf, Operations } from "@agent/wire";
import { holdDepositedCardMoney } from "../../payments/cards/hold-deposited-card-money.ts";
import type { Services } from "../../services.ts";
import { creditAccount } from "../credit-account.ts";
import { findAccount, reserveReference } from "../store.ts";
import { checkAccountId } from "./check-account-id.ts";

type Deposit = Operations["deposit"];

type DepositServices = Pick<Services, "storage" | "runtime" | "identity" | "config">;

/** Credits an account from outside; a repeated reference returns the balance and credits nothing. */
export async function deposit(
  services: DepositServices,
  agentId: string,
  body: BodyOf<Deposit>,
  saveResponse?: SaveResponse,
): Promise<Answer<Deposit>> {
  const { storage, runtime, identity } = services;
  const refused = checkAccountId(agentId, identity.relayId);
  if (refused !== undefined) return refused;
  return storage.transaction(async (tx) => {
    const finish = async (transaction_id: string | null) => {
      const account = await findAccount(tx, accountOf.agent(agentId));
      const balance = toDollars(account?.balance ?? 0);
      const idempotent = transaction_id === null;
      // An agent that registers under this id later owns the money, so the answer says that the id is unknown.
      const agent_known = (await listKnownAgents(tx, [agentId])).length === 1;
      const answer = {
        status: 200 as const,
        body: { agent_id: agentId, balance, transaction_id, idempotent, agent_known },
      };
      await saveResponse?.(tx, answer);
      return answer;
    };
    const { reference } = body;
    if (reference !== undefined) {
      const depositReference = { agent_id: agentId, reference };
      if (!(await reserveReference(tx, depositReference))) {
        return finish(null);
      }
    }
    const posted = await creditAccount(tx, runtime, {
      agentId,
      amount: toMicro(body.amount),
      reference: reference ?? null,
      description: body.description ?? null,
      releaseAt: await holdDepositedCardMoney(tx, services, agentId, reference),
    });
    if (!posted.ok) return posted;
    return finish(posted.transactionId);
  }, "locked");
}
