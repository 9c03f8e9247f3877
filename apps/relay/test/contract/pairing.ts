import { limits } from "@agent/wire";
import { bootstrapWithProof } from "../key-proof.ts";
import { claimSession, openSession } from "../pairing.ts";
import type { TestRelay } from "../test-relay.ts";
import { revocationOf } from "../edited-relay.ts";
import { edited, type Contract } from "./outcome.ts";

const initiate = "/pairing/initiate";
const nobody = { pairing_code: "AAAAAA" };

/** An owner with a session, and the session's path. */
async function scene(t: TestRelay, { claimed = false } = {}) {
  const owner = await t.agent();
  const session = await openSession(t, owner);
  const device = t.stranger();
  if (claimed) await claimSession(t, session, device);
  return { owner, session, device, path: `/pairing/${session.pairing_id}` };
}

const unknown = (t: TestRelay) => `/pairing/${t.stranger().agentId}`;
const expire = (t: TestRelay) => t.clock.advance(limits.pairingTtlMs);

/** The refusals that reading and resolving a session have in common. */
const session = (method: string, suffix: string) => ({
  "pairing.not_found": (t: TestRelay) => t.asMaster(method, unknown(t) + suffix),
  "pairing.not_owner": async (t: TestRelay) => {
    const { path } = await scene(t);
    return t.as(await t.agent(), method, path + suffix);
  },
  "pairing.expired": async (t: TestRelay) => {
    const { owner, path } = await scene(t, { claimed: true });
    await expire(t);
    return t.as(owner, method, path + suffix);
  },
});

export const pairingContract: Contract<
  "initiatePairing" | "claimPairing" | "getPairing" | "approvePairing" | "denyPairing"
> = {
  initiatePairing: {
    201: async (t) => t.as(await t.agent(), "POST", initiate),
    "request.invalid": (t) => t.asMaster("POST", initiate),
    "auth.not_owner": async (t) => {
      const [owner, other] = [await t.agent(), await t.agent()];
      return t.as(owner, "POST", initiate, { agent_id: other.agentId });
    },
    "agent.not_found": (t) => t.asMaster("POST", initiate, { agent_id: t.stranger().agentId }),
    "agent.revoked": edited(revocationOf, (t, { agentId }) =>
      t.asMaster("POST", initiate, { agent_id: agentId }),
    ),
  },

  claimPairing: {
    200: async (t) => {
      const { session: open, device } = await scene(t);
      return claimSession(t, open, device);
    },
    "pairing.not_found": (t) => claimSession(t, nobody, t.stranger()),
    "pairing.code_used": async (t) => {
      const { session: open } = await scene(t, { claimed: true });
      return claimSession(t, open, t.stranger());
    },
    "pairing.expired": async (t) => {
      const { session: open, device } = await scene(t);
      await expire(t);
      return claimSession(t, open, device);
    },
    "pairing.too_many_tries": async (t) => {
      for (let tries = 0; tries < limits.pairingTries; tries += 1) {
        await claimSession(t, nobody, t.stranger());
      }
      return claimSession(t, nobody, t.stranger());
    },
    "agent.key_unacceptable": async (t) => {
      const { session: open, owner } = await scene(t);
      return claimSession(t, open, owner);
    },
    "agent.key_in_use": async (t) => {
      const { session: open, device } = await scene(t);
      await bootstrapWithProof(t, device);
      return claimSession(t, open, device);
    },
  },

  getPairing: {
    200: async (t) => {
      const { owner, path } = await scene(t);
      return t.as(owner, "GET", path);
    },
    ...session("GET", ""),
  },

  approvePairing: {
    200: async (t) => {
      const { owner, path } = await scene(t, { claimed: true });
      return t.as(owner, "POST", `${path}/approve`);
    },
    "pairing.not_claimed": async (t) => {
      const { owner, path } = await scene(t);
      return t.as(owner, "POST", `${path}/approve`);
    },
    "pairing.resolved": async (t) => {
      const { owner, path } = await scene(t, { claimed: true });
      await t.as(owner, "POST", `${path}/approve`);
      return t.as(owner, "POST", `${path}/approve`);
    },
    "agent.revoked": async (t) => {
      const { owner, path } = await scene(t, { claimed: true });
      await t.asMaster("POST", `/api/v1/agents/${owner.agentId}/revoke`);
      return t.asMaster("POST", `${path}/approve`);
    },
    "agent.key_in_use": async (t) => {
      const { owner, device, path } = await scene(t, { claimed: true });
      await bootstrapWithProof(t, device);
      return t.as(owner, "POST", `${path}/approve`);
    },
    ...session("POST", "/approve"),
  },

  denyPairing: {
    200: async (t) => {
      const { owner, path } = await scene(t);
      return t.as(owner, "POST", `${path}/deny`);
    },
    "pairing.resolved": async (t) => {
      const { owner, path } = await scene(t);
      await t.as(owner, "POST", `${path}/deny`);
      return t.as(owner, "POST", `${path}/deny`);
    },
    ...session("POST", "/deny"),
  },
};
