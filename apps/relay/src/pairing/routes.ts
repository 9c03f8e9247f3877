import { refuse } from "@agent/wire";
import type { Handlers } from "../http/mount.ts";
import { refuseField } from "../http/validate.ts";
import { actingAgent } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { claim } from "./claim.ts";
import { getPairing } from "./get-pairing.ts";
import { initiate } from "./initiate.ts";
import { approve, deny } from "./resolve.ts";
import { createWrongCodes } from "./wrong-codes.ts";

type PairingHandlers = Pick<
  Handlers,
  "initiatePairing" | "claimPairing" | "getPairing" | "approvePairing" | "denyPairing"
>;

export function pairingHandlers(services: Services): PairingHandlers {
  const { clock, config } = services;
  const wrongCodes = createWrongCodes(clock.elapsed, config.agents.pairingTtlMs);
  return {
    initiatePairing({ body }, { caller }) {
      const agentId = actingAgent(caller, body.agent_id);
      if (agentId === undefined) return refuseField("agent_id", "is required");
      if (body.agent_id !== undefined && body.agent_id !== agentId) return refuse("auth.not_owner");
      return initiate(services, agentId);
    },
    claimPairing: ({ body }, { clientIp }) => claim(services, wrongCodes, body, clientIp()),
    getPairing: ({ params }, { caller }) => getPairing(services, params.pairingId, caller),
    approvePairing: ({ params, body }, { caller }) =>
      approve(services, { ...params, caller, granted: body.scopes }),
    denyPairing: ({ params }, { caller }) => deny(services, { ...params, caller }),
  };
}
