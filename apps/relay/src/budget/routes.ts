import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { deposit } from "./transfers/deposit.ts";
import { listAccounts } from "./accounts/list-accounts.ts";
import { listAllWithdrawals, listWithdrawals } from "./transfers/list-withdrawals.ts";
import { getBalance, listSettlements, listTransactions } from "./accounts/history.ts";
import { resolveWithdrawal } from "./transfers/resolve-withdrawal.ts";
import { getStatement } from "./statements/get-statement.ts";
import { requestWithdrawal } from "./transfers/request-withdrawal.ts";

type BudgetHandlers = Pick<
  Handlers,
  | "getBalance"
  | "listTransactions"
  | "listSettlements"
  | "deposit"
  | "listAccounts"
  | "getStatement"
  | "requestWithdrawal"
  | "listWithdrawals"
  | "listAllWithdrawals"
  | "completeWithdrawal"
  | "failWithdrawal"
>;

export function budgetHandlers(services: Services): BudgetHandlers {
  return {
    getBalance: ({ params }) => getBalance(services, params.agentId),
    listTransactions: ({ params, query }) => listTransactions(services, params.agentId, query),
    listSettlements: ({ params, query }) => listSettlements(services, params.agentId, query),
    deposit: ({ params, body }, { saveResponse }) =>
      deposit(services, params.agentId, body, saveResponse),
    listAccounts: ({ query }) => listAccounts(services, query),
    getStatement: ({ params, query }) => getStatement(services, params.agentId, query),
    requestWithdrawal: ({ params, body }, context) =>
      requestWithdrawal(services, params.agentId, body, context),
    listWithdrawals: ({ params, query }) => listWithdrawals(services, params.agentId, query),
    listAllWithdrawals: ({ query }) => listAllWithdrawals(services, query),
    completeWithdrawal: ({ params, body }, context) =>
      resolveWithdrawal(services, params.withdrawalId, body, context),
    failWithdrawal: ({ params, body }, context) =>
      resolveWithdrawal(services, params.withdrawalId, body, context),
  };
}
