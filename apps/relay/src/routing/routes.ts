import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { listCandidates } from "./list-candidates.ts";

export function marketHandlers(services: Services): Pick<Handlers, "listCandidates"> {
  return {
    listCandidates: ({ query }, { caller }) => listCandidates(services, query, caller),
  };
}
