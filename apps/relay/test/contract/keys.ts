import { revocationOf } from "../edited-relay.ts";
import { bootstrapWithProof } from "../key-proof.ts";
import { doors, rotationOf } from "../rotation.ts";
import { edited, type Contract } from "./outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}`;

/** A point of small order: everybody can sign for it. */
const weakKey = "00".repeat(32);

export const keysContract: Contract<"rotateKey" | "getSuccession"> = {
  rotateKey: {
    200: async (t) => {
      const agent = await t.agent();
      return doors["rotate-key"](t, agent, rotationOf(t, agent));
    },
    "agent.not_found": (t) => {
      const agent = t.stranger();
      return doors["rotate-key by the operator"](t, agent, rotationOf(t, agent));
    },
    "agent.key_unacceptable": async (t) => {
      const agent = await t.agent();
      const succession = { new_public_key: weakKey };
      return t.as(agent, "POST", `${path(agent.agentId)}/rotate-key`, { succession });
    },
    "agent.succession_invalid": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${path(agent.agentId)}/rotate-key`, { succession: {} });
    },
    "agent.key_in_use": async (t) => {
      const [agent, other] = [await t.agent(), t.stranger()];
      await bootstrapWithProof(t, other);
      return doors["rotate-key"](t, agent, rotationOf(t, agent, { to: other }));
    },
    "agent.revoked": edited(revocationOf, (t, agent) =>
      doors["rotate-key by the operator"](t, agent, rotationOf(t, agent)),
    ),
  },

  getSuccession: {
    200: async (t) => t.request("GET", `${path((await t.agent()).agentId)}/succession`),
    "agent.not_found": (t) => t.request("GET", `${path(t.stranger().agentId)}/succession`),
  },
};
