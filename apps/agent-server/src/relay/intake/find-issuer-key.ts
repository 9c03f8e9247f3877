import { BoundedMap } from "@agent/crypto";
import type { FindIssuerKey } from "../../execution/delegation/delegation-scope.ts";
import { buildFoundLookup, buildUnavailableLookup, toLookup, unknownLookup } from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";

const CACHE_TTL_MS = 60_000;
const CACHE_SIZE = 1_000;

/** Looks up an agent's valid key at its relay, at most once a minute; a revoked agent has none. */
export function createFindIssuerKey(parts: {
  membership: () => Membership | undefined;
  runtime: Pick<Runtime, "now">;
}): FindIssuerKey {
  const { membership, runtime } = parts;
  const lifetime = { ttlMs: CACHE_TTL_MS, now: () => runtime.now() };
  const cache = new BoundedMap<string, string>(CACHE_SIZE, lifetime);

  return async (agentId) => {
    const known = cache.get(agentId);
    if (known !== undefined) return buildFoundLookup(known);
    const client = membership()?.client;
    if (client === undefined) return buildUnavailableLookup();
    const agent = toLookup(await client.getAgent({ params: { agentId } }), "agent.not_found");
    if (agent.status !== "found") return agent;
    const { public_key: key } = agent.value;
    if (key === null) return unknownLookup;
    cache.set(agentId, key);
    return buildFoundLookup(key);
  };
}
