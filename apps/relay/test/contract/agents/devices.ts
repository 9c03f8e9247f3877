import { createPairedDevice } from "../../agents/pairing.ts";
import type { Contract } from "../outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}`;

export const devicesContract: Contract<
  "getDevice" | "listDevices" | "revokeDevice" | "revokeAgent" | "revokeTokens"
> = {
  getDevice: {
    200: async (t) => t.asOperator("GET", `/api/v1/devices/${(await t.createAgent()).deviceId}`),
    "device.not_found": (t) =>
      t.asOperator("GET", `/api/v1/devices/${t.createUnknownAgent().deviceId}`),
  },

  listDevices: {
    200: async (t) => t.asOperator("GET", `${path((await t.createAgent()).agentId)}/devices`),
    "request.invalid": async (t) =>
      t.asOperator("GET", `${path((await t.createAgent()).agentId)}/devices?cursor=%20`),
  },

  revokeDevice: {
    200: async (t) => {
      const owner = await t.createAgent();
      const { deviceId } = await createPairedDevice(t, owner);
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${deviceId}`);
    },
    "device.not_found": async (t) => {
      const [owner, other] = [await t.createAgent(), await t.createAgent()];
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${other.deviceId}`);
    },
    "device.carries_agent_key": async (t) => {
      const owner = await t.createAgent();
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${owner.deviceId}`);
    },
  },

  revokeAgent: {
    200: async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${path(agent.agentId)}/revoke`, { reason: "lost" });
    },
    "agent.not_found": (t) =>
      t.asOperator("POST", `${path(t.createUnknownAgent().agentId)}/revoke`),
  },

  revokeTokens: {
    200: async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${path(agent.agentId)}/revoke-tokens`, { jtis: ["1"] });
    },
    "agent.not_found": (t) =>
      t.asOperator("POST", `${path(t.createUnknownAgent().agentId)}/revoke-tokens`, {
        jtis: ["1"],
      }),
  },
};
