import type { Toolbox } from "../../execution/executor.ts";
import type { Offer } from "../../offer/offer.ts";
import type { ToolDefinition } from "../../tools/definition.ts";

/** Creates an offer of these tools under their own names at one price. */
export function buildTestOffer(tools: readonly Pick<ToolDefinition, "name">[]): Offer {
  const names = tools.map(({ name }) => name);
  return {
    capabilities: new Map(names.map((name) => [name, [name]])),
    listed: new Set(),
    priced: new Set(),
    hasSeveralPrices: false,
    listing: undefined,
  };
}

/** Creates a toolbox in which every tool is a capability of the same name. */
export function buildTestToolbox(
  tools: readonly ToolDefinition[],
  call: Toolbox["call"] = async () => ({ ok: false, kind: "unknown", error: "Unknown tool" }),
): Toolbox {
  return {
    tools,
    toolsFor: (capability) => tools.filter(({ name }) => name === capability),
    has: (name) => tools.some((tool) => tool.name === name),
    hasSeveralPrices: false,
    call,
  };
}
