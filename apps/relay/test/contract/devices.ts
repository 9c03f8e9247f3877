import { pairedDevice } from "../pairing.ts";
import type { Contract } from "./outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}`;

export const devicesContract: Contract<
  "getDevice" | "listDevices" | "revokeDevice" | "revokeAgent" | "revokeTokens"
> = {
  getDevice: {
    200: async (t) => t.asMaster("GET", `/api/v1/devices/${(await t.agent()).deviceId}`),
    "device.not_found": (t) => t.asMaster("GET", `/api/v1/devices/${t.stranger().deviceId}`),
  },

  listDevices: {
    200: async (t) => t.asMaster("GET", `${path((await t.agent()).agentId)}/devices`),
    "request.invalid": async (t) =>
      t.asMaster("GET", `${path((await t.agent()).agentId)}/devices?cursor=%20`),
  },

  revokeDevice: {
    200: async (t) => {
      const owner = await t.agent();
      const { deviceId } = await pairedDevice(t, owner);
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${deviceId}`);
    },
    "device.not_found": async (t) => {
      const [owner, other] = [await t.agent(), await t.agent()];
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${other.deviceId}`);
    },
    "device.carries_agent_key": async (t) => {
      const owner = await t.agent();
      return t.as(owner, "DELETE", `${path(owner.agentId)}/devices/${owner.deviceId}`);
    },
  },

  revokeAgent: {
    200: async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${path(agent.agentId)}/revoke`, { reason: "lost" });
    },
    "agent.not_found": (t) => t.asMaster("POST", `${path(t.stranger().agentId)}/revoke`),
  },

  revokeTokens: {
    200: async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${path(agent.agentId)}/revoke-tokens`, { jtis: ["1"] });
    },
    "agent.not_found": (t) =>
      t.asMaster("POST", `${path(t.stranger().agentId)}/revoke-tokens`, { jtis: ["1"] }),
  },
};
