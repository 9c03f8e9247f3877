import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { deposit } from "./deposit.ts";
import { getBalance, listSettlements, listTransactions } from "./history.ts";

type BudgetHandlers = Pick<
  Handlers,
  "getBalance" | "listTransactions" | "listSettlements" | "deposit"
>;

export function budgetHandlers(services: Services): BudgetHandlers {
  return {
    getBalance: ({ params }) => getBalance(services, params.agentId),
    listTransactions: ({ params, query }) => listTransactions(services, params.agentId, query),
    listSettlements: ({ params, query }) => listSettlements(services, params.agentId, query),
    deposit: ({ params, body }, { keep }) => deposit(services, params.agentId, body, keep),
  };
}
