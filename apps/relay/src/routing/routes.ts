import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { getRouting } from "./decision.ts";
import { listCandidates } from "./list-candidates.ts";

type RoutingHandlers = Pick<Handlers, "listCandidates" | "getRouting">;

export function routingHandlers(services: Services): RoutingHandlers {
  return {
    getRouting: ({ params }, { caller }) => getRouting(services, { ...params, caller }),
    listCandidates: ({ query }, { caller }) => listCandidates(services, query, caller),
  };
}
