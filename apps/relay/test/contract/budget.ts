import type { Contract } from "./outcome.ts";

const path = (agentId: string, rest: string) => `/api/v1/agents/${agentId}/${rest}`;

export const budgetContract: Contract<
  "getBalance" | "listTransactions" | "listSettlements" | "deposit" | "listAccounts"
> = {
  getBalance: { 200: (t) => t.asMaster("GET", path(t.stranger().agentId, "balance")) },

  listTransactions: {
    200: (t) => t.asMaster("GET", path(t.stranger().agentId, "transactions")),
    "request.invalid": (t) =>
      t.asMaster("GET", path(t.stranger().agentId, "transactions?cursor=%20")),
  },

  listSettlements: {
    200: (t) => t.asMaster("GET", path(t.stranger().agentId, "settlements")),
    "request.invalid": (t) =>
      t.asMaster("GET", path(t.stranger().agentId, "settlements?cursor=%20")),
  },

  listAccounts: {
    200: async (t) => {
      await t.deposit(t.stranger(), 1);
      return t.asMaster("GET", "/api/v1/admin/accounts");
    },
    "request.invalid": (t) => t.asMaster("GET", "/api/v1/admin/accounts?limit=0"),
  },

  deposit: {
    200: (t) => t.asMaster("POST", path(t.stranger().agentId, "deposit"), { amount: 1 }),
    "agent.id_reserved": (t) => t.asMaster("POST", path(t.relay.relayId, "deposit"), { amount: 1 }),
    "money.balance_limit": async (t) => {
      const rich = t.stranger();
      for (let i = 0; i < 9; i += 1) await t.deposit(rich, 1e9);
      return t.asMaster("POST", path(rich.agentId, "deposit"), { amount: 0.000001 });
    },
  },
};
