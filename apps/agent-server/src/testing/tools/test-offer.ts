import type { Toolbox } from "../../execution/executor.ts";
import type { Offer } from "../../offer/offer.ts";
import type { ToolDefinition } from "../../tools/definition.ts";

/** An offer of these tools under their own names, all at one price. */
export function buildTestOffer(tools: readonly Pick<ToolDefinition, "name">[]): Offer {
  const names = tools.map(({ name }) => name);
  return {
    capabilities: new Map(names.map((name) => [name, [name]])),
    listed: new Set(),
    hasSeveralPrices: false,
  };
}

/** A toolbox in which every tool is a capability of its name. */
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
