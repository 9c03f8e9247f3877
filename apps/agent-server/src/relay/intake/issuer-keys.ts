import { BoundedMap } from "@agent/crypto";
import type { GetIssuerKeys } from "../../execution/delegation/delegation-scope.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";

const CACHE_TTL_MS = 60_000;
const CACHE_SIZE = 1_000;

/** Looks up an agent's valid key at its relay, at most once a minute; a revoked agent has none. */
export function createGetIssuerKeys(parts: {
  membership: () => Membership | undefined;
  runtime: Pick<Runtime, "now">;
}): GetIssuerKeys {
  const { membership, runtime } = parts;
  const lifetime = { ttlMs: CACHE_TTL_MS, now: () => runtime.now() };
  const cache = new BoundedMap<string, string>(CACHE_SIZE, lifetime);

  return async (agentId) => {
    const known = cache.get(agentId);
    if (known !== undefined) return [known];
    const answer = await membership()?.client.getAgent({ params: { agentId } });
    const key = answer?.ok === true ? answer.body.public_key : null;
    if (key === null) return [];
    cache.set(agentId, key);
    return [key];
  };
}
