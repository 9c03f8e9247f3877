import { refuse } from "@agent/wire";
import type { Handlers } from "../http/handler.ts";
import { refuseField } from "../http/server/validate.ts";
import { resolveActingAgent } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { claimPairing } from "./claim-pairing.ts";
import { getPairing } from "./get-pairing.ts";
import { initiatePairing } from "./initiate-pairing.ts";
import { approvePairing, denyPairing } from "./resolve-pairing.ts";
import { createFailedCodeTracker, createSharedCodeTracker } from "./failed-code-tracker.ts";

type PairingHandlers = Pick<
  Handlers,
  "initiatePairing" | "claimPairing" | "getPairing" | "approvePairing" | "denyPairing"
>;

export function pairingHandlers(services: Services): PairingHandlers {
  const { clock, config, storage, runtime } = services;
  const { pairingTtlMs } = config.agents;
  const wrongCodes = storage.isShared
    ? createSharedCodeTracker(storage, runtime.now, pairingTtlMs)
    : createFailedCodeTracker(clock.elapsed, pairingTtlMs);
  return {
    initiatePairing({ body }, { caller }) {
      const agentId = resolveActingAgent(caller, body.agent_id);
      if (agentId === undefined) return refuseField("agent_id", "is required");
      if (body.agent_id !== undefined && body.agent_id !== agentId) return refuse("auth.not_owner");
      return initiatePairing(services, agentId);
    },
    claimPairing: ({ body }, { clientIp }) => claimPairing(services, wrongCodes, body, clientIp()),
    getPairing: ({ params }, { caller }) => getPairing(services, params.pairingId, caller),
    approvePairing: ({ params, body }, { caller }) =>
      approvePairing(services, { ...params, caller, granted: body.scopes }),
    denyPairing: ({ params }, { caller }) => denyPairing(services, { ...params, caller }),
  };
}
