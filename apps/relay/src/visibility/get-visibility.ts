import { findRankInSteps } from "@agent/routing-semiring";
import { limits, refuse, type Answer, type Operations, type Visibility } from "@agent/wire";
import { getFreshness } from "../agents/discovery/freshness.ts";
import { listCapabilities } from "../agents/discovery/listing.ts";
import { findListing } from "../agents/discovery/listing-store.ts";
import { isOnline } from "../agents/discovery/online.ts";
import { findAgent } from "../agents/store.ts";
import type { Services } from "../services.ts";
import { checkVisibility } from "./check-visibility.ts";
import { checkReachability } from "./check-reachability.ts";

type VisibilityServices = Pick<
  Services,
  "storage" | "runtime" | "connections" | "candidates" | "trustGraph" | "egress"
>;

/** Reports how visible an agent is to others, with hints for its owner. */
export async function getVisibility(
  services: VisibilityServices,
  agentId: string,
): Promise<Answer<Operations["getVisibility"]>> {
  const { storage, runtime, connections } = services;
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined) return refuse("agent.not_found");
  const listing = await findListing(storage.read, agentId);
  const capabilities = listCapabilities(agent, listing);
  const checks = [
    ...(await checkVisibility(services, agent, listing)),
    ...(await checkReachability(services, agent)),
  ];
  const queries: Visibility["queries"] = [];
  for (const capability of capabilities.slice(0, limits.visibilityQueries)) {
    queries.push(await rankForCapability(services, agentId, capability));
  }
  const hints: string[] = [];
  if (agent.revoked_at !== null) hints.push("The agent is revoked: discovery does not show it.");
  if (agent.registered === 0) {
    hints.push(
      listing === undefined
        ? "Register: until then discovery does not show the agent."
        : "Register: until then discovery shows the agent without an endpoint.",
    );
  }
  if (capabilities.length > limits.visibilityQueries) {
    hints.push(`Only the first ${limits.visibilityQueries} capabilities were ranked.`);
  }
  const now = runtime.now();
  if (!isOnline(agent, connections, now)) {
    const freshness = getFreshness(agent.last_seen_at, now);
    hints.push(`Connect, or send heartbeats: the agent is ${freshness} and counts as offline.`);
  }
  for (const { check, ok, detail } of checks) if (!ok) hints.push(`Fix ${check}: ${detail}.`);
  return { status: 200, body: { agent_id: agentId, checks, queries, hints } };
}

/** Ranks the agent as a stranger's query does, to which only the experience of payers counts. */
async function rankForCapability(
  { candidates, trustGraph }: VisibilityServices,
  agentId: string,
  capability: string,
): Promise<Visibility["queries"][number]> {
  const required = [capability];
  const { rank, of, own } = await candidates.rankInTurn({ askerId: "", required }, (list) =>
    findRankInSteps(list.candidates, agentId, {
      ...trustGraph.routesFrom(null),
      nodes: list.nodes,
      requiredCapabilities: required,
    }),
  );
  const zeroScores = { trust: 0, success_rate: 0, latency: 0, price_efficiency: 0 };
  return {
    capability,
    rank,
    of,
    composite_score: own?.composite_score ?? 0,
    sub_scores: own?.sub_scores ?? { ...zeroScores, capability_match: 0, availability: 0 },
  };
}
