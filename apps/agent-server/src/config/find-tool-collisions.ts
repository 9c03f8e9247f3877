import { listSyntheticToolNames } from "../tools/index.ts";
import { findNameCollisions, type RegisteredTool } from "../tools/registry.ts";
import type { Config } from "./config.ts";

/** Finds the tools whose name another one has, or one that every agent of this configuration has. */
export function findToolCollisions(
  { relay, listing, delegation }: Pick<Config, "relay" | "listing" | "delegation">,
  tools: readonly RegisteredTool[],
): string[] {
  const names = listSyntheticToolNames({
    hasRelay: relay !== undefined,
    hasListing: listing !== undefined,
    offersInspection: listing?.acceptance !== undefined,
    delegates: delegation,
  });
  return findNameCollisions([...names.map((name) => ({ definition: { name } })), ...tools]);
}
