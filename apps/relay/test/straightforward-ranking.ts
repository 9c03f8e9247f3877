import { asMicro, fromMicro } from "@agent/budget";
import {
  computeRecordLatency,
  Graph,
  rank,
  type Candidate,
  type Ranking,
} from "@agent/routing-semiring";
import type { ListingBody, MarketCandidate } from "@agent/wire";
import { calculateTaskPrice } from "../src/routing/price.ts";
import { scoreOfLevel } from "../src/trust/levels.ts";
import type { StoredRows } from "./engine/stored.ts";

interface Row {
  readonly agent_id: string;
  readonly endpoint_url: string | null;
  readonly capabilities: string;
  readonly registered: 0 | 1;
  readonly last_seen_at: number;
  readonly unreachable_at: number | null;
  readonly listing: string | null;
  readonly own_level: number | null;
  readonly own_successes: number | null;
  readonly own_failures: number | null;
  readonly own_latency_ms: number | null;
  readonly payers_level: number | null;
  readonly paid_successes: number | null;
  readonly paid_failures: number | null;
  readonly paid_latency_ms: number | null;
}

export interface StraightforwardQuery {
  readonly askerId: string;
  readonly required: readonly string[];
  readonly now: number;
  readonly isConnected: (agentId: string) => boolean;
}

const ROWS = `
  select a.*, l.body as listing, own.trust_level as own_level,
    own.successful_tasks as own_successes, own.failed_tasks as own_failures,
    own.avg_latency_ms as own_latency_ms, paid.successful_tasks as paid_successes,
    paid.failed_tasks as paid_failures, paid.latency_total_ms as paid_latency_ms,
    case when paid.trusted_backing >= 2 * t.trusted and paid.trusted_backing >= 2 then 4
      when paid.verified_backing >= 2 * t.verified and paid.verified_backing >= 2 then 3
      when paid.first_contact_backing >= 2 then 2 end as payers_level
  from trust_thresholds as t, agent_capabilities as offered join agents as a using (agent_id)
    left join listings as l on l.agent_id = a.agent_id
    left join trust_records as own on own.remote_agent_id = a.agent_id and own.agent_id = ?
    left join agent_histories as paid on paid.agent_id = a.agent_id
  where offered.capability = ? and a.revoked_at is null order by a.agent_id`;

/** Builds the candidates of a task from the rows of all agents, without anything kept in memory. */
export async function loadCandidates(
  stored: StoredRows,
  query: StraightforwardQuery,
): Promise<Candidate[]> {
  const rows = await stored.all<Row>(ROWS, [query.askerId, query.required[0] ?? ""]);
  return rows.flatMap((row) => toCandidate(row, query) ?? []);
}

function toCandidate(
  row: Row,
  { required, now, isConnected }: StraightforwardQuery,
): Candidate | undefined {
  const listing = row.listing === null ? undefined : (JSON.parse(row.listing) as ListingBody);
  const price = listing === undefined ? asMicro(0) : calculateTaskPrice(listing, required);
  if (price === null) return undefined;
  const [paidSuccesses, paidFailures] = [row.paid_successes ?? 0, row.paid_failures ?? 0];
  const own = (row.own_successes ?? 0) + (row.own_failures ?? 0);
  const successes = own > 0 ? (row.own_successes ?? 0) : paidSuccesses;
  const counted = own > 0 ? own : paidSuccesses + paidFailures;
  const paidMs = paidSuccesses > 0 ? (row.paid_latency_ms ?? 0) / paidSuccesses : null;
  const trust_score = scoreOfLevel(row.own_level ?? row.payers_level ?? 1);
  const promisedMs = listing?.sla?.max_latency_ms ?? null;
  const registered = row.registered ? (JSON.parse(row.capabilities) as string[]) : [];
  const isCallable =
    row.registered === 1 && row.endpoint_url !== null && row.unreachable_at === null;
  return {
    agent_id: row.agent_id,
    capabilities: [...new Set([...registered, ...(listing?.capabilities ?? [])])],
    unit_cost: fromMicro(price),
    trust_score,
    blocked: row.own_level === 0,
    successes,
    counted,
    avg_latency_ms: computeRecordLatency({
      successes,
      counted,
      trustScore: trust_score,
      measuredMs: own > 0 ? row.own_latency_ms : paidMs,
      promisedMs,
    }),
    listing_latency_ms: promisedMs,
    online: isConnected(row.agent_id) || (isCallable && now - row.last_seen_at < 360_000),
    availability_guarantee: listing?.sla?.availability_guarantee ?? null,
  };
}

/** Ranks candidates with the trust graph of all stored records. */
export async function rankFromRows(
  stored: StoredRows,
  { askerId, required }: StraightforwardQuery,
  candidates: readonly Candidate[],
): Promise<Ranking> {
  const graph = new Graph();
  const records = await stored.all<{
    agent_id: string;
    remote_agent_id: string;
    trust_level: number;
  }>("select agent_id, remote_agent_id, trust_level from trust_records");
  const avoided: string[] = [];
  for (const { agent_id, remote_agent_id, trust_level } of records) {
    if (agent_id === askerId && trust_level === 0) avoided.push(remote_agent_id);
    const trust = scoreOfLevel(trust_level);
    graph.addEdge(agent_id, remote_agent_id, { trust, cost: 0, latency: 0, reliability: 1 });
  }
  const from = askerId === "" ? "self" : askerId;
  return rank(candidates, { graph, from, avoided, requiredCapabilities: required });
}

/** Builds the answer of a market query. */
export async function buildMarketAnswer(
  stored: StoredRows,
  query: StraightforwardQuery,
): Promise<MarketCandidate[]> {
  const candidates = await loadCandidates(stored, query);
  const { ranked, choice } = await rankFromRows(stored, query, candidates);
  const byId = new Map(candidates.map((candidate) => [candidate.agent_id, candidate]));
  const listed = await stored.all<{ agent_id: string; body: string }>(
    "select agent_id, body from listings",
  );
  const listings = new Map(listed.map(({ agent_id, body }) => [agent_id, body]));
  return ranked.map((entry) => {
    const body = listings.get(entry.agent_id);
    const listing = body === undefined ? undefined : (JSON.parse(body) as ListingBody);
    const candidate = byId.get(entry.agent_id)!;
    return {
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
    };
  });
}
