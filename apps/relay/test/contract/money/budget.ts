import type { Contract } from "../outcome.ts";

const path = (agentId: string, rest: string) => `/api/v1/agents/${agentId}/${rest}`;

export const budgetContract: Contract<
  "getBalance" | "listTransactions" | "listSettlements" | "deposit" | "listAccounts"
> = {
  getBalance: { 200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "balance")) },

  listTransactions: {
    200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "transactions")),
    "request.invalid": (t) =>
      t.asOperator("GET", path(t.createUnknownAgent().agentId, "transactions?cursor=%20")),
  },

  listSettlements: {
    200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "settlements")),
    "request.invalid": (t) =>
      t.asOperator("GET", path(t.createUnknownAgent().agentId, "settlements?cursor=%20")),
  },

  listAccounts: {
    200: async (t) => {
      await t.deposit(t.createUnknownAgent(), 1);
      return t.asOperator("GET", "/api/v1/admin/accounts");
    },
    "request.invalid": (t) => t.asOperator("GET", "/api/v1/admin/accounts?limit=0"),
  },

  deposit: {
    200: (t) =>
      t.asOperator("POST", path(t.createUnknownAgent().agentId, "deposit"), { amount: 1 }),
    "request.invalid": (t) => t.asOperator("POST", path("nobody", "deposit"), { amount: 1 }),
    "agent.id_reserved": (t) =>
      t.asOperator("POST", path(t.relay.relayId, "deposit"), { amount: 1 }),
    "money.balance_limit": async (t) => {
      const rich = t.createUnknownAgent();
      for (let i = 0; i < 9; i += 1) await t.deposit(rich, 1e9);
      return t.asOperator("POST", path(rich.agentId, "deposit"), { amount: 0.000001 });
    },
  },
};
