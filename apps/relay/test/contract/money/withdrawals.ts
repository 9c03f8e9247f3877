import { limits } from "@agent/wire";
import { cardEnv, overdrawAccount, payByCard } from "../../payments/card-processor.ts";
import { createBuyer } from "../../market.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import { withEnv, withEditedDatabase, type Contract } from "../outcome.ts";

const path = (agentId: string, rest: string) => `/api/v1/agents/${agentId}/${rest}`;
const cards = cardEnv("http://127.0.0.1:1");
const ADMIN_PATH = "/api/v1/admin/withdrawals";

const ask = (t: TestRelay, agentId: string, amount: number): Promise<Reply> =>
  t.asOperator("POST", path(agentId, "withdrawals"), { amount, destination: "IBAN 1" });

/** Resolves an existing withdrawal as the operator; every further attempt must be refused. */
async function resolve(t: TestRelay, verb: "complete" | "fail", times = 1): Promise<Reply> {
  const { body } = await ask(t, (await createBuyer(t, 10)).agentId, 3);
  const end = () =>
    t.asOperator("POST", `${ADMIN_PATH}/${String(body["withdrawal_id"])}/${verb}`, endings[verb]);
  for (let i = 1; i < times; i += 1) await end();
  return end();
}

const endings = { complete: { payout_reference: "p-1" }, fail: { reason: "no such account" } };

export const withdrawalsContract: Contract<
  | "requestWithdrawal"
  | "listWithdrawals"
  | "listAllWithdrawals"
  | "completeWithdrawal"
  | "failWithdrawal"
  | "getStatement"
> = {
  requestWithdrawal: {
    201: async (t) => ask(t, (await createBuyer(t, 10)).agentId, 3),
    "budget.insufficient": (t) => ask(t, t.createUnknownAgent().agentId, 3),
    "account.overdrawn": withEnv(cards, async (t) => {
      const agent = await t.createAgent();
      await overdrawAccount(t, agent);
      return ask(t, agent.agentId, 3);
    }),
    "budget.card_hold": withEnv(cards, async (t) => {
      const agent = await t.createAgent();
      await payByCard(t, agent);
      return ask(t, agent.agentId, 3);
    }),
    "agent.id_reserved": (t) => ask(t, t.relay.relayId, 3),
    "withdrawal.too_many": async (t) => {
      const { agentId } = await createBuyer(t, 10);
      for (let at = 0; at < limits.pendingWithdrawals; at += 1) await ask(t, agentId, 0.1);
      return ask(t, agentId, 0.1);
    },
  },
  listWithdrawals: {
    200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "withdrawals")),
    "request.invalid": (t) =>
      t.asOperator("GET", path(t.createUnknownAgent().agentId, "withdrawals?cursor=%20")),
  },
  listAllWithdrawals: {
    200: (t) => t.asOperator("GET", ADMIN_PATH),
    "request.invalid": (t) => t.asOperator("GET", `${ADMIN_PATH}?status=gone`),
  },
  completeWithdrawal: {
    200: (t) => resolve(t, "complete"),
    "withdrawal.not_found": (t) =>
      t.asOperator("POST", `${ADMIN_PATH}/none/complete`, endings.complete),
    "withdrawal.resolved": (t) => resolve(t, "complete", 2),
  },
  failWithdrawal: {
    200: (t) => resolve(t, "fail"),
    "withdrawal.not_found": (t) => t.asOperator("POST", `${ADMIN_PATH}/none/fail`, endings.fail),
    "withdrawal.resolved": (t) => resolve(t, "fail", 2),
  },
  getStatement: {
    200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "statement")),
    "statement.too_long": withEditedDatabase(
      ({ agentId }) => `
        INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
          VALUES ('agent:${agentId}', 0, 0, 0, ${limits.statementRows + 1});
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= ${limits.statementRows})
        INSERT INTO postings
          (account, sequence, transaction_id, type, amount, balance_after, created_at)
          SELECT 'agent:${agentId}', i, 't' || i, 'deposit', 0, 0, 1 FROM n;`,
      (t, { agentId }) => t.asOperator("GET", `${path(agentId, "statement")}?format=csv`),
    ),
    "request.invalid": (t) =>
      t.asOperator("GET", `${path(t.createUnknownAgent().agentId, "statement")}?cursor=x`),
  },
};
