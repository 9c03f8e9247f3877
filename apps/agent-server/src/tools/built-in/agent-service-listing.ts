import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { JsonObject } from "../definition.ts";

/** Only for an agent that has a listing. */
export function agentServiceListingTool(listing: JsonObject) {
  return defineTool({
    name: "agent_service_listing",
    description: "What this agent offers: capabilities, prices and service level.",
    risk: 0,
    input: v.object({}),
    run: () => ({ ok: true, data: JSON.stringify(listing) }),
  });
}
