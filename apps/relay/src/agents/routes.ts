import { refuse } from "@agent/wire";
import type { Handlers } from "../http/handler.ts";
import { refuseField } from "../http/server/validate.ts";
import { resolveActingAgent, mayActFor } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { bootstrapAgent } from "./bootstrap-agent.ts";
import { getDevice, listDevices } from "./devices/devices.ts";
import { discoverAgents, getAgent } from "./discovery/discover-agents.ts";
import { getSuccession } from "./keys/get-succession.ts";
import { getListing, putListing } from "./discovery/listing.ts";
import { deregisterAgent, recordAgentHeartbeat, registerAgent } from "./register-agent.ts";
import { revokeAgent } from "./revoke-agent.ts";
import { revokeDevice } from "./devices/revoke-device.ts";
import { revokeTokens } from "./revoke-tokens.ts";
import { rotateKey } from "./keys/rotate-key.ts";

type AgentHandlers = Pick<
  Handlers,
  | "bootstrap"
  | "registerAgent"
  | "heartbeat"
  | "discover"
  | "getAgent"
  | "deregisterAgent"
  | "putListing"
  | "getListing"
  | "getDevice"
  | "listDevices"
  | "revokeDevice"
  | "revokeAgent"
  | "revokeTokens"
  | "rotateKey"
  | "getSuccession"
>;

/** `registered` is called for every agent that may have become reachable. */
export function agentHandlers(
  services: Services,
  onRegistered: (agentId: string) => void,
): AgentHandlers {
  return {
    bootstrap: ({ body }, { caller }) => bootstrapAgent(services, body, caller),
    async registerAgent({ body }, { caller }) {
      if (!mayActFor(caller, [body.agent_id])) return refuse("auth.not_owner");
      const answer = await registerAgent(services, body, caller);
      if (answer.ok !== false) onRegistered(body.agent_id);
      return answer;
    },
    heartbeat({ body }, { caller }) {
      const agentId = resolveActingAgent(caller, body.agent_id);
      if (agentId === undefined) return refuseField("agent_id", "is required");
      if (body.agent_id !== undefined && body.agent_id !== agentId) return refuse("auth.not_owner");
      return recordAgentHeartbeat(services, agentId);
    },
    discover: ({ query }, { caller }) => discoverAgents(services, query, caller),
    getAgent: ({ params }, { caller }) => getAgent(services, params.agentId, caller),
    deregisterAgent: ({ params }, { caller }) => deregisterAgent(services, params.agentId, caller),
    putListing: ({ params, body }, { caller }) =>
      putListing(services, params.agentId, body, caller),
    getListing: ({ params }) => getListing(services.storage.read, params.agentId),
    rotateKey: ({ params, body }, { caller }) =>
      rotateKey(services, { ...params, succession: body.succession, caller }),
    getSuccession: ({ params }) => getSuccession(services.storage.read, params.agentId),
    getDevice: ({ params }) => getDevice(services.storage.read, params.deviceId),
    listDevices: ({ params, query }) => listDevices(services.storage.read, params.agentId, query),
    revokeDevice: ({ params }, { caller }) => revokeDevice(services, { ...params, caller }),
    revokeAgent: ({ params, body }, { caller }) =>
      revokeAgent(services, { ...params, reason: body.reason, caller }),
    revokeTokens: ({ params, body }, { caller }) =>
      revokeTokens(services, { ...params, jtis: body.jtis, caller }),
  };
}
