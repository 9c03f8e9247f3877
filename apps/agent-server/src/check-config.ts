import type { Config } from "./config.ts";
import { configuredOffer } from "./offer/configured-offer.ts";
import { offerTable } from "./offer/offer-table.ts";
import { connectServers } from "./proxy/connect-servers.ts";
import type { Runtime } from "./runtime.ts";
import { syntheticNames } from "./tools/index.ts";
import { collisionsOf, type RegisteredTool } from "./tools/registry.ts";

export type ConfigCheck =
  | { readonly ok: true; readonly table: string }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Finds what would stop the start of an agent, and shows what it would offer. The wrapped servers are
 * asked for their tools, because the offer cannot be known without them.
 */
export async function checkConfig(
  { config, tools }: { readonly config: Config; readonly tools: readonly RegisteredTool[] },
  { version, runtime }: { readonly version: string; readonly runtime: Runtime },
): Promise<ConfigCheck> {
  const servers = await connectServers(config.mcpServers, { version, runtime });
  if (!servers.ok) return servers;
  const all = [...tools, ...servers.tools];
  await servers.close();
  const { relay, listing } = config;
  const names = syntheticNames({
    hasRelay: relay !== undefined,
    hasListing: listing !== undefined,
  });
  const collisions = collisionsOf([...names.map((name) => ({ definition: { name } })), ...all]);
  if (collisions.length > 0) return { ok: false, faults: collisions };
  const decided = configuredOffer(config, all);
  if (!decided.ok) return decided;
  return { ok: true, table: offerTable(all, decided.offer, listing) };
}
