import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { getVisibility } from "./show-visibility.ts";

export function visibilityHandlers(services: Services): Pick<Handlers, "getVisibility"> {
  return { getVisibility: ({ params }) => getVisibility(services, params.agentId) };
}
