import type { Idempotency } from "../http/server/idempotency.ts";
import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { callAgent } from "./call-agent.ts";
import { agentCard, relayCard } from "./agent-card.ts";
import { createSharedOffers } from "./shown-offer-store.ts";
import { createShownOffers } from "./shown-offers.ts";

export function a2aHandlers(
  services: Services,
  idempotency: Idempotency,
): Pick<Handlers, "relayCard" | "agentCard" | "callAgent"> {
  const { storage, freezer, runtime } = services;
  const shownOffers = storage.isShared
    ? createSharedOffers(storage, freezer, runtime.now)
    : createShownOffers();
  const dependencies = { idempotency, shownOffers };
  return {
    relayCard: (_, { headers }) => relayCard(services, headers),
    agentCard: ({ params }, context) => agentCard(services, dependencies, params.agentId, context),
    callAgent: ({ params, body }, context) =>
      callAgent(services, dependencies, { ...params, call: body }, context),
  };
}
