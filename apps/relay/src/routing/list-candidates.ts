import { rank } from "@agent/routing-semiring";
import {
  limits,
  type Answer,
  type MarketCandidate,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { toReaderId } from "../agents/discovery/discover-agents.ts";
import { listProfilesByCapability } from "../agents/discovery/profile-store.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { buildCandidate, parseListing } from "./build-candidate.ts";

/** Lists all agents with a capability, as scored routing would rank them for this caller. */
export async function listCandidates(
  {
    storage,
    runtime,
    connections,
    trustGraph,
  }: Pick<Services, "storage" | "runtime" | "connections" | "trustGraph">,
  query: QueryOf<Operations["listCandidates"]>,
  caller: Caller,
): Promise<Answer<Operations["listCandidates"]>> {
  const reader = toReaderId(caller);
  const required = [query.capability];
  const rows = await listProfilesByCapability(storage.read, {
    reader,
    capability: query.capability,
  });
  const now = runtime.now();
  const offers = new Map(
    rows.flatMap((row) => {
      const candidate = buildCandidate(row, required, connections, now);
      return candidate === undefined ? [] : [[row.agent_id, { row, candidate }] as const];
    }),
  );
  const { ranked, choice } = rank(
    Array.from(offers.values(), ({ candidate }) => candidate),
    {
      graph: trustGraph.graph,
      from: reader === "" ? "self" : reader,
      avoided: trustGraph.blockedBy(reader),
      requiredCapabilities: required,
      limit: query.limit ?? limits.defaultPageSize,
      ...(query.max_budget !== undefined && { maxBudget: query.max_budget }),
    },
  );
  const candidates = ranked.flatMap((entry): MarketCandidate[] => {
    const offer = offers.get(entry.agent_id);
    if (offer === undefined) return [];
    const { row, candidate } = offer;
    const listing = parseListing(row);
    return [
      {
        agent_id: entry.agent_id,
        composite_score: entry.composite_score,
        sub_scores: entry.sub_scores,
        selected: entry.agent_id === choice?.selected_agent,
        online: candidate.online,
        affordable: entry.affordable,
        capabilities: [...candidate.capabilities],
        pricing: listing?.pricing ?? [],
        sla: listing?.sla ?? {},
        description: listing?.description ?? "",
      },
    ];
  });
  return { status: 200, body: { candidates } };
}
