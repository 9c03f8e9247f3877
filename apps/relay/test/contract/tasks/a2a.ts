import { createBuyer, createSeller } from "../../market.ts";
import type { Contract } from "../outcome.ts";

const version = { "a2a-version": "1.0" };

export const a2aContract: Contract<"relayCard" | "agentCard" | "callAgent"> = {
  relayCard: { 200: (t) => t.request("GET", "/.well-known/agent-card.json") },
  agentCard: {
    200: async (t) => {
      const { agentId } = await createSeller(t, 2);
      return t.request("GET", `/a2a/${agentId}/.well-known/agent-card.json`);
    },
    "agent.not_found": (t) =>
      t.request("GET", `/a2a/${t.createUnknownAgent().agentId}/.well-known/agent-card.json`),
  },
  callAgent: {
    200: async (t) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "work" }] };
      const params = { message, configuration: { returnImmediately: true } };
      return t.request("POST", `/a2a/${worker.agentId}`, {
        token: await t.token(boss),
        headers: version,
        body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params },
      });
    },
    "auth.scope_missing": async (t) => {
      const agent = await t.createAgent();
      return t.request("POST", `/a2a/${agent.agentId}`, {
        token: await t.token(agent, ["task:read"]),
        headers: version,
        body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} },
      });
    },
  },
};
