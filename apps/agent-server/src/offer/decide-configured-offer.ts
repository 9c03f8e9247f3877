import type { Config } from "../config/config.ts";
import { decideOffer, type OfferResult } from "./offer.ts";
import type { RegisteredTool } from "../tools/registry.ts";

/** Decides the offer of an agent with this configuration and these tools. */
export function decideConfiguredOffer(
  { offer, listing, llm, direct }: Pick<Config, "offer" | "listing" | "llm" | "direct">,
  tools: readonly RegisteredTool[],
): OfferResult {
  const answersWithoutTools = llm !== undefined && !direct;
  return decideOffer({ setting: offer, listing, tools, answersWithoutTools });
}
