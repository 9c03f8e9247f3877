import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { listCandidates } from "./list-candidates.ts";

type RoutingHandlers = Pick<Handlers, "listCandidates">;

export function routingHandlers(services: Services): RoutingHandlers {
  return {
    listCandidates: ({ query }, { caller }) => listCandidates(services, query, caller),
  };
}
