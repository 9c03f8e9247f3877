import { createTestAgent, type TestAgent } from "@agent/testkit";
import type { HostilePeer } from "./hostile-peer.ts";

const CAPABILITY = "summarise";
const MAX_INVENTED = 3_000;

function createEntry(
  { agentId, publicKey }: Pick<TestAgent, "agentId" | "publicKey">,
  price: number,
) {
  return {
    agent_id: agentId,
    public_key: publicKey,
    capabilities: [CAPABILITY],
    pricing: [{ capability: CAPABILITY, unit_cost: price, currency: "USD" }],
    trust: 0.9,
    availability: 1,
  };
}

/** Lists the peer's own agents. */
export function listEntries({ agents }: HostilePeer): object[] {
  return agents.map((agent, at) => createEntry(agent, 0.4 + at * 0.3));
}

/** Lists agents of the honest relay, thousands of invented ones, and entries that are not valid. */
export function listFalseEntries(peer: HostilePeer): unknown[] {
  const { honest, random, agents } = peer;
  const [own] = agents as [TestAgent];
  const victim = honest.chooseParty(random.below(1_000));
  const world = { now: honest.clock.now, randomBytes: random.randomBytes };
  const entries: unknown[] = [
    createEntry({ ...victim, publicKey: own.publicKey }, 0.1),
    createEntry(victim, 0.1),
    { ...createEntry(own, 0.3), source_relay: honest.t.relay.relayId, hop_distance: -1 },
    { ...createEntry(own, 1e12), latency_ms: -1 },
    { ...createEntry(own, 0.5), trust: 7 },
    { ...createEntry(own, 0.5), source_relay: victim.agentId, succession: [{}, {}] },
    null,
    7,
  ];
  if (random.below(4) > 0) return entries;
  const invented = createTestAgent(world);
  for (let count = random.below(MAX_INVENTED); count > 0; count -= 1) {
    const suffix = count.toString(16).padStart(8, "0");
    const agentId = `${suffix}${invented.agentId.slice(8)}`;
    entries.push(createEntry({ ...invented, agentId }, 0.5));
  }
  return entries;
}
