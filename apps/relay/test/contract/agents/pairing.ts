import { limits } from "@agent/wire";
import { bootstrapWithProof } from "../../agents/key-proof.ts";
import { claimPairing, createPairedDevice, openPairing } from "../../agents/pairing.ts";
import { createRotation, rotationRoutes } from "../../agents/rotation.ts";
import type { TestRelay } from "../../test-relay.ts";
import { createRevocationSql } from "../../stored/edited-relay.ts";
import { withEditedDatabase, type Contract } from "../outcome.ts";

const initiate = "/pairing/initiate";
const unknownCode = { pairing_code: "AAAAAA" };

/** Creates an owner with a pairing session, and returns the session's path. */
async function scene(t: TestRelay, { claimed = false } = {}) {
  const owner = await t.createAgent();
  const session = await openPairing(t, owner);
  const device = t.createUnknownAgent();
  if (claimed) await claimPairing(t, session, device);
  return { owner, session, device, path: `/pairing/${session.pairing_id}` };
}

const unknown = (t: TestRelay) => `/pairing/${t.createUnknownAgent().agentId}`;
const expire = (t: TestRelay) => t.clock.advance(limits.pairingTtlMs);

/** The refusals common to reading and resolving a session. */
const session = (method: string, suffix: string) => ({
  "pairing.not_found": (t: TestRelay) => t.asOperator(method, unknown(t) + suffix),
  "pairing.not_owner": async (t: TestRelay) => {
    const { path } = await scene(t);
    return t.as(await t.createAgent(), method, path + suffix);
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
    201: async (t) => t.as(await t.createAgent(), "POST", initiate),
    "request.invalid": (t) => t.asOperator("POST", initiate),
    "auth.not_owner": async (t) => {
      const [owner, other] = [await t.createAgent(), await t.createAgent()];
      return t.as(owner, "POST", initiate, { agent_id: other.agentId });
    },
    "agent.not_found": (t) =>
      t.asOperator("POST", initiate, { agent_id: t.createUnknownAgent().agentId }),
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, { agentId }) =>
      t.asOperator("POST", initiate, { agent_id: agentId }),
    ),
  },

  claimPairing: {
    200: async (t) => {
      const { session: open, device } = await scene(t);
      return claimPairing(t, open, device);
    },
    "pairing.not_found": (t) => claimPairing(t, unknownCode, t.createUnknownAgent()),
    "pairing.code_used": async (t) => {
      const { session: open } = await scene(t, { claimed: true });
      return claimPairing(t, open, t.createUnknownAgent());
    },
    "pairing.expired": async (t) => {
      const { session: open, device } = await scene(t);
      await expire(t);
      return claimPairing(t, open, device);
    },
    "pairing.too_many_tries": async (t) => {
      for (let tries = 0; tries < limits.pairingAttempts; tries += 1) {
        await claimPairing(t, unknownCode, t.createUnknownAgent());
      }
      return claimPairing(t, unknownCode, t.createUnknownAgent());
    },
    "agent.key_unacceptable": async (t) => {
      const { session: open, owner } = await scene(t);
      return claimPairing(t, open, owner);
    },
    "agent.key_in_use": async (t) => {
      const { session: open, device } = await scene(t);
      await bootstrapWithProof(t, device);
      return claimPairing(t, open, device);
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
      await t.asOperator("POST", `/api/v1/agents/${owner.agentId}/revoke`);
      return t.asOperator("POST", `${path}/approve`);
    },
    "agent.key_unacceptable": async (t) => {
      const { owner, device, path } = await scene(t, { claimed: true });
      const rotation = createRotation(t, owner, { to: device });
      await rotationRoutes["rotate-key by the operator"](t, owner, rotation);
      return t.asOperator("POST", `${path}/approve`);
    },
    "agent.key_in_use": async (t) => {
      const { owner, device, path } = await scene(t, { claimed: true });
      await bootstrapWithProof(t, device);
      return t.as(owner, "POST", `${path}/approve`);
    },
    "pairing.scope_not_held": async (t) => {
      const { owner, path } = await scene(t, { claimed: true });
      const helper = await createPairedDevice(t, owner, ["pair"]);
      return t.as(helper, "POST", `${path}/approve`, { scopes: ["account:write"] });
    },
    "device.too_many": async (t) => {
      const { owner, path } = await scene(t, { claimed: true });
      for (let i = 1; i < limits.devices; i += 1) await createPairedDevice(t, owner);
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
