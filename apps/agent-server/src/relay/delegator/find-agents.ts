import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";
import { shortenText } from "./shorten-text.ts";

const MAX_AGENTS = "20";
const MAX_DESCRIPTION = 300;
const MAX_NAME = 80;
const MAX_CAPABILITIES = 20;

/** Lists agents with a capability, their prices in US dollars, and the trust in them. */
export async function findAgents(
  { client, ownId }: DelegatorContext,
  capability: string,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  const found = await client.discover({ query: { capability, limit: MAX_AGENTS } }, { signal });
  if (!found.ok) return toDelegatorRefusal(found);
  const agents = found.body.agents
    .filter((agent) => agent.agent_id !== ownId)
    .map((agent) => ({
      agent_id: agent.agent_id,
      name: shortenText(agent.metadata["name"], MAX_NAME),
      description: shortenText(agent.metadata["description"], MAX_DESCRIPTION),
      capabilities: agent.capabilities
        .slice(0, MAX_CAPABILITIES)
        .map((each) => shortenText(each, MAX_NAME)),
      price: agent.pricing.find((one) => one.capability === capability)?.unit_cost ?? agent.cost,
      currency: "USD",
      trust_level: agent.trust_level,
      online: agent.online,
      ...(agent.hop_distance > 0 && { relay: shortenText(agent.relay_name, MAX_NAME) }),
    }));
  return { ok: true, answer: { agents } };
}
