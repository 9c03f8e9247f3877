import type { Config } from "./config.ts";
import { findToolCollisions } from "./find-tool-collisions.ts";
import { decideConfiguredOffer } from "../offer/decide-configured-offer.ts";
import { formatOfferTable } from "../offer/format-offer-table.ts";
import { connectServers } from "../proxy/connect-servers.ts";
import type { Runtime } from "../runtime.ts";
import type { RegisteredTool } from "../tools/registry.ts";

export type CheckConfigResult =
  | { readonly ok: true; readonly table: string }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Finds the faults that would stop an agent's start, and formats the tools that it would offer. It
 * connects to the wrapped servers, because their tools are part of the offer.
 */
export async function checkConfig(
  { config, tools }: { readonly config: Config; readonly tools: readonly RegisteredTool[] },
  { version, runtime }: { readonly version: string; readonly runtime: Runtime },
): Promise<CheckConfigResult> {
  const servers = await connectServers(config.mcpServers, { version, runtime });
  if (!servers.ok) return servers;
  const allTools = [...tools, ...servers.tools];
  await servers.close();
  const collisions = findToolCollisions(config, allTools);
  if (collisions.length > 0) return { ok: false, faults: collisions };
  const resolvedOffer = decideConfiguredOffer(config, allTools);
  if (!resolvedOffer.ok) return resolvedOffer;
  return { ok: true, table: formatOfferTable(allTools, resolvedOffer.offer, config.listing) };
}
