import type { KeysOf } from "../execution/mandate.ts";
import type { Runtime } from "../runtime.ts";
import type { Membership } from "./join.ts";

const rememberedMs = 60_000;
const remembered = 1_000;

/** An agent's key in force as its home relay has it, looked up at most once a minute; none once revoked. */
export function createIssuerKeys(parts: {
  membership: () => Membership | undefined;
  runtime: Pick<Runtime, "now">;
}): KeysOf {
  const { membership, runtime } = parts;
  const known = new Map<string, { readonly until: number; readonly key: string }>();

  return async (agentId) => {
    const entry = known.get(agentId);
    if (entry !== undefined && entry.until > runtime.now()) return [entry.key];
    known.delete(agentId);
    const answer = await membership()?.client.getAgent({ params: { agentId } });
    const key = answer?.ok === true ? answer.body.public_key : null;
    if (key === null) return [];
    known.set(agentId, { until: runtime.now() + rememberedMs, key });
    const oldest = known.keys().next();
    if (known.size > remembered && oldest.done !== true) known.delete(oldest.value);
    return [key];
  };
}
