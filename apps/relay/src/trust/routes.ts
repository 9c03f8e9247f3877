import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { listTrust } from "./list-trust.ts";

export function trustHandlers(services: Services): Pick<Handlers, "listTrust"> {
  return {
    listTrust: ({ params, query }) => listTrust(services, params.agentId, query),
  };
}
