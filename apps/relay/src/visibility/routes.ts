import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getVisibility } from "./get-visibility.ts";

export function visibilityHandlers(services: Services): Pick<Handlers, "getVisibility"> {
  return { getVisibility: ({ params }) => getVisibility(services, params.agentId) };
}
