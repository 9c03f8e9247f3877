import type { Contract } from "./outcome.ts";

export const marketContract: Contract<"listCandidates" | "getVisibility"> = {
  listCandidates: {
    200: (t) => t.asMaster("GET", "/api/v1/market/candidates?capability=summarise"),
  },

  getVisibility: {
    200: async (t) => {
      const { agentId } = await t.worker(1);
      return t.asMaster("GET", `/api/v1/agents/${agentId}/visibility`);
    },
    "agent.not_found": (t) =>
      t.asMaster("GET", `/api/v1/agents/${t.stranger().agentId}/visibility`),
  },
};
