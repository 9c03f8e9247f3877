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
  const cache = new Map<string, { readonly until: number; readonly key: string }>();

  return async (agentId) => {
    const entry = cache.get(agentId);
    if (entry !== undefined && entry.until > runtime.now()) return [entry.key];
    cache.delete(agentId);
    const answer = await membership()?.client.getAgent({ params: { agentId } });
    const key = answer?.ok === true ? answer.body.public_key : null;
    if (key === null) return [];
    cache.set(agentId, { until: runtime.now() + CACHE_TTL_MS, key });
    const oldest = cache.keys().next();
    if (cache.size > CACHE_SIZE && oldest.done !== true) cache.delete(oldest.value);
    return [key];
  };
}
