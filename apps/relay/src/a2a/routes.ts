import type { Idempotency } from "../http/idempotency.ts";
import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { callAgent } from "./call-agent.ts";
import { agentCard, relayCard } from "./card.ts";

export function a2aHandlers(
  services: Services,
  idempotency: Idempotency,
): Pick<Handlers, "relayCard" | "agentCard" | "callAgent"> {
  return {
    relayCard: (_, { headers }) => relayCard(services, headers),
    agentCard: ({ params }, { headers }) => agentCard(services, params.agentId, headers),
    callAgent: ({ params, body }, context) =>
      callAgent(services, idempotency, { ...params, call: body }, context),
  };
}
