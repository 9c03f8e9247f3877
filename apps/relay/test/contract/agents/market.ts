import { createBuyer, submitAcceptedTask, createSeller } from "../../market.ts";
import type { Contract } from "../outcome.ts";

export const marketContract: Contract<"listCandidates" | "getVisibility" | "getRouting"> = {
  listCandidates: {
    200: (t) => t.asOperator("GET", "/api/v1/market/candidates?capability=summarise"),
  },

  getVisibility: {
    200: async (t) => {
      const { agentId } = await t.createWorker(1);
      return t.asOperator("GET", `/api/v1/agents/${agentId}/visibility`);
    },
    "agent.not_found": (t) =>
      t.asOperator("GET", `/api/v1/agents/${t.createUnknownAgent().agentId}/visibility`),
  },

  getRouting: {
    200: async (t) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const { path } = await submitAcceptedTask(t, boss, worker, {
        required_capabilities: ["summarise"],
      });
      return t.as(boss, "GET", `${path}/routing`);
    },
    "task.not_found": (t) => {
      const { agentId } = t.createUnknownAgent();
      return t.asOperator("GET", `/agent/${agentId}/task/${agentId}/routing`);
    },
    "task.not_submitter": async (t) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const { path } = await submitAcceptedTask(t, boss, worker);
      return t.as(worker, "GET", `${path}/routing`);
    },
    "routing.not_found": async (t) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const { path } = await submitAcceptedTask(t, boss, worker);
      return t.as(boss, "GET", `${path}/routing`);
    },
  },
};
