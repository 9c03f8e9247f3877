import { agentIdOfKey } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { revocationOf } from "../edited-relay.ts";
import { displacedAgent, withKeyOf } from "../key-proof.ts";
import { configured, edited, type Contract } from "./outcome.ts";

const agents = "/api/v1/agents";
const bootstrap = `${agents}/bootstrap`;
const register = `${agents}/register`;
const heartbeat = `${agents}/heartbeat`;

/** A point of small order: everybody can sign for it. */
const weakKey = "00".repeat(32);
const unproven = { timestamp: 0, signature: "" };
const listing = { capabilities: ["summarise"] };

const keyOf = ({ agentId, publicKey }: TestAgent) => ({ agent_id: agentId, public_key: publicKey });
const registrationOf = (agent_id: string) => ({
  agent_id,
  endpoint_url: "http://127.0.0.1:1/mcp",
  capabilities: ["summarise"],
});

export const registryContract: Contract<
  | "bootstrap"
  | "registerAgent"
  | "heartbeat"
  | "discover"
  | "getAgent"
  | "deregisterAgent"
  | "putListing"
  | "getListing"
> = {
  bootstrap: {
    201: (t) => t.request("POST", bootstrap, { body: keyOf(t.stranger()) }),
    200: async (t) => t.request("POST", bootstrap, { body: keyOf(await t.agent()) }),
    "agent.id_reserved": (t) => {
      const body = { ...keyOf(t.stranger()), agent_id: t.relay.relayId };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_unacceptable": (t) => {
      const body = { ...keyOf(t.stranger()), public_key: weakKey };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_changed": async (t) => {
      const { agentId } = await t.agent();
      const body = { ...keyOf(t.stranger()), agent_id: agentId };
      return t.request("POST", bootstrap, { body });
    },
    "agent.id_not_of_key": (t) => {
      const body = { ...keyOf(t.stranger()), agent_id: agentIdOfKey(t.stranger().publicKey) };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_in_use": async (t) => {
      const { holder } = await displacedAgent(t);
      return t.request("POST", bootstrap, { body: keyOf(withKeyOf(t, holder)) });
    },
    "agent.key_displaced": async (t) => {
      const { displaced } = await displacedAgent(t);
      return t.request("POST", bootstrap, { body: keyOf(displaced) });
    },
    "agent.succession_invalid": async (t) => {
      const { agentId } = await t.agent();
      const body = { ...keyOf(t.stranger()), agent_id: agentId, succession: {} };
      return t.request("POST", bootstrap, { body });
    },
    "agent.proof_required": configured({ AGENT_REQUIRE_BOOTSTRAP_PROOF: "true" }, (t) =>
      t.request("POST", bootstrap, { body: keyOf(t.stranger()) }),
    ),
    "agent.proof_invalid": (t) =>
      t.request("POST", bootstrap, { body: { ...keyOf(t.stranger()), proof: unproven } }),
    "agent.revoked": edited(revocationOf, (t, agent) =>
      t.request("POST", bootstrap, { body: keyOf(agent) }),
    ),
  },

  registerAgent: {
    200: async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", register, registrationOf(agent.agentId));
    },
    "request.invalid": async (t) => {
      const agent = await t.agent();
      const body = { ...registrationOf(agent.agentId), endpoint_url: "http://127.0.0.1:99999/" };
      return t.as(agent, "POST", register, body);
    },
    "auth.not_owner": async (t) =>
      t.as(await t.agent(), "POST", register, registrationOf(t.stranger().agentId)),
    "agent.id_reserved": (t) => t.asMaster("POST", register, registrationOf(t.relay.relayId)),
    "agent.key_unacceptable": (t) => {
      const body = { ...registrationOf(t.stranger().agentId), public_key: weakKey };
      return t.asMaster("POST", register, body);
    },
    "agent.key_changed": async (t) => {
      const agent = await t.agent();
      const body = { ...registrationOf(agent.agentId), public_key: t.stranger().publicKey };
      return t.as(agent, "POST", register, body);
    },
    "agent.id_not_of_key": (t) => {
      const agent = { ...t.stranger(), agentId: agentIdOfKey(t.stranger().publicKey) };
      const body = { ...registrationOf(agent.agentId), public_key: agent.publicKey };
      return t.asMaster("POST", register, body);
    },
    "agent.key_in_use": async (t) => {
      const { holder } = await displacedAgent(t);
      const body = { ...registrationOf(t.stranger().agentId), public_key: holder.publicKey };
      return t.asMaster("POST", register, body);
    },
    "agent.key_displaced": async (t) => {
      const { displaced } = await displacedAgent(t);
      const body = { ...registrationOf(displaced.agentId), public_key: t.stranger().publicKey };
      return t.asMaster("POST", register, body);
    },
    "agent.succession_invalid": async (t) => {
      const agent = await t.agent();
      const { publicKey } = t.stranger();
      const body = { ...registrationOf(agent.agentId), public_key: publicKey, succession: {} };
      return t.as(agent, "POST", register, body);
    },
    "agent.revoked": edited(revocationOf, (t, { agentId }) =>
      t.asMaster("POST", register, registrationOf(agentId)),
    ),
  },

  heartbeat: {
    200: async (t) => t.as(await t.agent(), "POST", heartbeat, {}),
    "request.invalid": (t) => t.asMaster("POST", heartbeat, {}),
    "auth.not_owner": async (t) =>
      t.as(await t.agent(), "POST", heartbeat, { agent_id: t.stranger().agentId }),
    "agent.not_found": (t) => t.asMaster("POST", heartbeat, { agent_id: t.stranger().agentId }),
  },

  discover: {
    200: (t) => t.asMaster("GET", `${agents}/discover`),
    "request.invalid": (t) => t.asMaster("GET", `${agents}/discover?cursor=%20`),
  },

  getAgent: {
    200: async (t) => t.asMaster("GET", `${agents}/${(await t.agent()).agentId}`),
    "agent.not_found": (t) => t.asMaster("GET", `${agents}/${t.stranger().agentId}`),
  },

  deregisterAgent: {
    200: async (t) => {
      const worker = await t.worker(0);
      return t.as(worker, "DELETE", `${agents}/${worker.agentId}`);
    },
    "agent.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "DELETE", `${agents}/${agent.agentId}`);
    },
  },

  putListing: {
    200: async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${agents}/${agent.agentId}/listing`, listing);
    },
    "agent.not_found": (t) =>
      t.asMaster("POST", `${agents}/${t.stranger().agentId}/listing`, listing),
    "agent.revoked": edited(revocationOf, (t, { agentId }) =>
      t.asMaster("POST", `${agents}/${agentId}/listing`, listing),
    ),
  },

  getListing: {
    200: async (t) => t.request("GET", `${agents}/${(await t.worker(1)).agentId}/listing`),
    "listing.not_found": async (t) =>
      t.request("GET", `${agents}/${(await t.agent()).agentId}/listing`),
  },
};
