import { deriveAgentId } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { createRevocationSql } from "../../stored/edited-relay.ts";
import { createDisplacedAgent, createAgentWithKeyOf } from "../../agents/key-proof.ts";
import { withEnv, withEditedDatabase, type Contract } from "../outcome.ts";

const agents = "/api/v1/agents";
const bootstrap = `${agents}/bootstrap`;
const register = `${agents}/register`;
const heartbeat = `${agents}/heartbeat`;

/** A point of small order, for which signatures can be forged. */
const WEAK_KEY = "00".repeat(32);
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
    201: (t) => t.request("POST", bootstrap, { body: keyOf(t.createUnknownAgent()) }),
    200: async (t) => t.request("POST", bootstrap, { body: keyOf(await t.createAgent()) }),
    "agent.id_reserved": (t) => {
      const body = { ...keyOf(t.createUnknownAgent()), agent_id: t.relay.relayId };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_unacceptable": (t) => {
      const body = { ...keyOf(t.createUnknownAgent()), public_key: WEAK_KEY };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_changed": async (t) => {
      const { agentId } = await t.createAgent();
      const body = { ...keyOf(t.createUnknownAgent()), agent_id: agentId };
      return t.request("POST", bootstrap, { body });
    },
    "agent.id_not_of_key": (t) => {
      const body = {
        ...keyOf(t.createUnknownAgent()),
        agent_id: deriveAgentId(t.createUnknownAgent().publicKey),
      };
      return t.request("POST", bootstrap, { body });
    },
    "agent.key_in_use": async (t) => {
      const { holder } = await createDisplacedAgent(t);
      return t.request("POST", bootstrap, { body: keyOf(createAgentWithKeyOf(t, holder)) });
    },
    "agent.key_displaced": async (t) => {
      const { displaced } = await createDisplacedAgent(t);
      return t.request("POST", bootstrap, { body: keyOf(displaced) });
    },
    "agent.succession_invalid": async (t) => {
      const { agentId } = await t.createAgent();
      const body = { ...keyOf(t.createUnknownAgent()), agent_id: agentId, succession: {} };
      return t.request("POST", bootstrap, { body });
    },
    "agent.proof_required": withEnv({ AGENT_REQUIRE_BOOTSTRAP_PROOF: "true" }, (t) =>
      t.request("POST", bootstrap, { body: keyOf(t.createUnknownAgent()) }),
    ),
    "agent.proof_invalid": (t) =>
      t.request("POST", bootstrap, { body: { ...keyOf(t.createUnknownAgent()), proof: unproven } }),
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, agent) =>
      t.request("POST", bootstrap, { body: keyOf(agent) }),
    ),
  },

  registerAgent: {
    200: async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", register, registrationOf(agent.agentId));
    },
    "request.invalid": async (t) => {
      const agent = await t.createAgent();
      const body = { ...registrationOf(agent.agentId), endpoint_url: "http://127.0.0.1:99999/" };
      return t.as(agent, "POST", register, body);
    },
    "auth.not_owner": async (t) =>
      t.as(await t.createAgent(), "POST", register, registrationOf(t.createUnknownAgent().agentId)),
    "agent.id_reserved": (t) => t.asOperator("POST", register, registrationOf(t.relay.relayId)),
    "agent.key_unacceptable": (t) => {
      const body = { ...registrationOf(t.createUnknownAgent().agentId), public_key: WEAK_KEY };
      return t.asOperator("POST", register, body);
    },
    "agent.key_changed": async (t) => {
      const agent = await t.createAgent();
      const body = {
        ...registrationOf(agent.agentId),
        public_key: t.createUnknownAgent().publicKey,
      };
      return t.as(agent, "POST", register, body);
    },
    "agent.id_not_of_key": (t) => {
      const agent = {
        ...t.createUnknownAgent(),
        agentId: deriveAgentId(t.createUnknownAgent().publicKey),
      };
      const body = { ...registrationOf(agent.agentId), public_key: agent.publicKey };
      return t.asOperator("POST", register, body);
    },
    "agent.key_in_use": async (t) => {
      const { holder } = await createDisplacedAgent(t);
      const body = {
        ...registrationOf(t.createUnknownAgent().agentId),
        public_key: holder.publicKey,
      };
      return t.asOperator("POST", register, body);
    },
    "agent.key_displaced": async (t) => {
      const { displaced } = await createDisplacedAgent(t);
      const body = {
        ...registrationOf(displaced.agentId),
        public_key: t.createUnknownAgent().publicKey,
      };
      return t.asOperator("POST", register, body);
    },
    "agent.succession_invalid": async (t) => {
      const agent = await t.createAgent();
      const { publicKey } = t.createUnknownAgent();
      const body = { ...registrationOf(agent.agentId), public_key: publicKey, succession: {} };
      return t.as(agent, "POST", register, body);
    },
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, { agentId }) =>
      t.asOperator("POST", register, registrationOf(agentId)),
    ),
  },

  heartbeat: {
    200: async (t) => t.as(await t.createAgent(), "POST", heartbeat, {}),
    "request.invalid": (t) => t.asOperator("POST", heartbeat, {}),
    "auth.not_owner": async (t) =>
      t.as(await t.createAgent(), "POST", heartbeat, { agent_id: t.createUnknownAgent().agentId }),
    "agent.not_found": (t) =>
      t.asOperator("POST", heartbeat, { agent_id: t.createUnknownAgent().agentId }),
  },

  discover: {
    200: (t) => t.asOperator("GET", `${agents}/discover`),
    "request.invalid": (t) => t.asOperator("GET", `${agents}/discover?cursor=%20`),
  },

  getAgent: {
    200: async (t) => t.asOperator("GET", `${agents}/${(await t.createAgent()).agentId}`),
    "agent.not_found": (t) => t.asOperator("GET", `${agents}/${t.createUnknownAgent().agentId}`),
  },

  deregisterAgent: {
    200: async (t) => {
      const worker = await t.createWorker(0);
      return t.as(worker, "DELETE", `${agents}/${worker.agentId}`);
    },
    "agent.not_found": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "DELETE", `${agents}/${agent.agentId}`);
    },
  },

  putListing: {
    200: async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${agents}/${agent.agentId}/listing`, listing);
    },
    "request.invalid": async (t) => {
      const { agentId } = await t.createAgent();
      const acceptance = { window_ms: 60_000, arbiters: [agentId] };
      return t.asOperator("POST", `${agents}/${agentId}/listing`, { ...listing, acceptance });
    },
    "agent.not_found": (t) =>
      t.asOperator("POST", `${agents}/${t.createUnknownAgent().agentId}/listing`, listing),
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, { agentId }) =>
      t.asOperator("POST", `${agents}/${agentId}/listing`, listing),
    ),
  },

  getListing: {
    200: async (t) => t.request("GET", `${agents}/${(await t.createWorker(1)).agentId}/listing`),
    "listing.not_found": async (t) =>
      t.request("GET", `${agents}/${(await t.createAgent()).agentId}/listing`),
  },
};
