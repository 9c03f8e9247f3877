import { createRevocationSql } from "../../stored/edited-relay.ts";
import { bootstrapWithProof } from "../../agents/key-proof.ts";
import { rotationRoutes, createRotation } from "../../agents/rotation.ts";
import { withEditedDatabase, type Contract } from "../outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}`;

/** A point of small order, for which signatures can be forged. */
const WEAK_KEY = "00".repeat(32);

export const keysContract: Contract<"rotateKey" | "getSuccession"> = {
  rotateKey: {
    200: async (t) => {
      const agent = await t.createAgent();
      return rotationRoutes["rotate-key"](t, agent, createRotation(t, agent));
    },
    "agent.not_found": (t) => {
      const agent = t.createUnknownAgent();
      return rotationRoutes["rotate-key by the operator"](t, agent, createRotation(t, agent));
    },
    "agent.key_unacceptable": async (t) => {
      const agent = await t.createAgent();
      const succession = { new_public_key: WEAK_KEY };
      return t.as(agent, "POST", `${path(agent.agentId)}/rotate-key`, { succession });
    },
    "agent.succession_invalid": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${path(agent.agentId)}/rotate-key`, { succession: {} });
    },
    "agent.key_in_use": async (t) => {
      const [agent, other] = [await t.createAgent(), t.createUnknownAgent()];
      await bootstrapWithProof(t, other);
      return rotationRoutes["rotate-key"](t, agent, createRotation(t, agent, { to: other }));
    },
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, agent) =>
      rotationRoutes["rotate-key by the operator"](t, agent, createRotation(t, agent)),
    ),
  },

  getSuccession: {
    200: async (t) => t.request("GET", `${path((await t.createAgent()).agentId)}/succession`),
    "agent.not_found": (t) =>
      t.request("GET", `${path(t.createUnknownAgent().agentId)}/succession`),
  },
};
