import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { refuse } from "@agent/wire";
import type { Handlers } from "../http/mount.ts";
import { actingAgent, actsFor } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { bootstrap } from "./bootstrap.ts";
import { discover, getAgent } from "./discover.ts";
import { keyHistory } from "./key-history.ts";
import { getListing, putListing } from "./listing.ts";
import { deregister, heartbeat, register } from "./register.ts";
import { rotateKey } from "./rotate-key.ts";
import { findDevice } from "./store.ts";

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
  | "rotateKey"
  | "getSuccession"
>;

/** `registered` is told of every agent that may have become reachable. */
export function agentHandlers(
  services: Services,
  registered: (agentId: string) => void,
): AgentHandlers {
  return {
    bootstrap: ({ body }) => bootstrap(services, body),
    async registerAgent({ body }, { caller }) {
      if (!actsFor(caller, [body.agent_id])) return refuse("auth.not_owner");
      const answer = await register(services, body);
      if (!("ok" in answer)) registered(body.agent_id);
      return answer;
    },
    heartbeat({ body }, { caller }) {
      const agentId = actingAgent(caller, body.agent_id);
      if (agentId === undefined) return refuse("request.invalid", "agent_id is required");
      if (body.agent_id !== undefined && body.agent_id !== agentId) return refuse("auth.not_owner");
      return heartbeat(services, agentId);
    },
    discover: ({ query }, { caller }) => discover(services, query, caller),
    getAgent: ({ params }, { caller }) => getAgent(services, params.agentId, caller),
    deregisterAgent: ({ params }) => deregister(services, params.agentId),
    putListing: ({ params, body }) => putListing(services, params.agentId, body),
    getListing: ({ params }) => getListing(services.storage.read, params.agentId),
    rotateKey: ({ params, body }) => rotateKey(services, params.agentId, body.succession),
    getSuccession: ({ params }) => keyHistory(services.storage.read, params.agentId),
    async getDevice({ params }) {
      const device = await findDevice(services.storage.read, params.deviceId);
      if (device === undefined) return refuse("device.not_found");
      return {
        status: 200,
        body: {
          device_id: device.device_id,
          agent_id: device.agent_id,
          public_key: device.public_key,
          did: publicKeyToDidKey(hexToBytes(device.public_key)),
          device_name: device.device_name,
          registered_at: device.registered_at,
          revoked: device.revoked_at !== null,
        },
      };
    },
  };
}
