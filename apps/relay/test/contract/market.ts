import { buyer, delegate, seller } from "../market.ts";
import type { Contract } from "./outcome.ts";

export const marketContract: Contract<"listCandidates" | "getVisibility" | "getRouting"> = {
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

  getRouting: {
    200: async (t) => {
      const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
      const { path } = await delegate(t, boss, worker, { required_capabilities: ["summarise"] });
      return t.as(boss, "GET", `${path}/routing`);
    },
    "task.not_found": (t) => {
      const { agentId } = t.stranger();
      return t.asMaster("GET", `/agent/${agentId}/task/${agentId}/routing`);
    },
    "task.not_submitter": async (t) => {
      const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
      const { path } = await delegate(t, boss, worker);
      return t.as(worker, "GET", `${path}/routing`);
    },
    "routing.not_found": async (t) => {
      const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
      const { path } = await delegate(t, boss, worker);
      return t.as(boss, "GET", `${path}/routing`);
    },
  },
};
