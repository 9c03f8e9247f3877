import { isUuid } from "@agent/crypto";
import { accountOf, toDollars, toMicro } from "@agent/budget";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { listKnownAgents } from "../../agents/store.ts";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import type { Services } from "../../services.ts";
import { refuseField } from "../../http/server/validate.ts";
import { creditAccount } from "../credit-account.ts";
import { findAccount, reserveReference } from "../store.ts";

type Deposit = Operations["deposit"];

/** The account of a wallet that paid without an agent. */
const WALLET_ACCOUNT = /^x402:0x[0-9a-f]{40}$/;

/** Credits an account from outside; a repeated reference returns the balance and credits nothing. */
export async function deposit(
  { storage, runtime, identity }: Pick<Services, "storage" | "runtime" | "identity">,
  agentId: string,
  body: BodyOf<Deposit>,
  saveResponse?: SaveResponse,
): Promise<Answer<Deposit>> {
  if (!isUuid(agentId) && !WALLET_ACCOUNT.test(agentId)) {
    return refuseField("agentId", "must be a UUID, or x402: with the address of a wallet");
  }
  // The relay's id shows its fee account, so a deposit under that id would be invisible.
  if (agentId === identity.relayId) return refuse("agent.id_reserved");
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
    });
    if (!posted.ok) return posted;
    return finish(posted.transactionId);
  }, "locked");
}
