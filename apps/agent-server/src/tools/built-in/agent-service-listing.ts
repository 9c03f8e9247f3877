import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { JsonObject } from "../definition.ts";

/** Creates the tool; only for an agent with a listing. */
export function agentServiceListingTool(listing: JsonObject) {
  return defineTool({
    name: "agent_service_listing",
    description: "This agent's capabilities, prices and service level.",
    risk: 0,
    input: v.object({}),
    run: () => ({ ok: true, data: JSON.stringify(listing) }),
  });
}
