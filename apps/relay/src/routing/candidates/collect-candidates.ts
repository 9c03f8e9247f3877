import { MAX_RECORDED_CANDIDATES, type Steps } from "@agent/routing-semiring";
import type { Connections } from "../../realtime/connections.ts";
import type { AgentFacts } from "./agent-facts.ts";
import type { AskerRecord } from "./weigh-experience.ts";
import { DigestList } from "./digest-list.ts";
import type { CandidateList, KeptCapability } from "./kept-capability.ts";

export interface CandidateQuery {
  /** The asking agent; empty for a stranger. */
  readonly askerId: string;
  /** Must hold at least one. */
  readonly required: readonly string[];
  readonly excluded?: Iterable<string>;
  /** Filters out agents that do not meet a task's requirements other than capabilities. */
  readonly accepts?: ((facts: AgentFacts) => boolean) | undefined;
  /** Whether the decision is recorded, for which many candidates are hashed. */
  readonly isRecorded?: boolean;
}

interface Presence {
  readonly connections: Pick<Connections, "isOnline">;
  readonly now: number;
}

const CANDIDATES_PER_STEP = 4_096;
/** A new candidate is hashed, which takes about as long as the rest. */
const HASHED_CANDIDATES_PER_STEP = 1_024;

/** Collects the candidates of a query, with their hashes if they are too many for the record of the decision. */
export function* collectCandidates(
  capability: KeptCapability,
  { required, excluded = [], accepts, isRecorded = false }: CandidateQuery,
  recordsById: ReadonlyMap<string, AskerRecord>,
  { connections, now }: Presence,
): Steps<CandidateList> {
  capability.updateNodes();
  const records = new Map<number, AskerRecord>();
  for (const [agentId, record] of recordsById) records.set(capability.placeOf(agentId), record);
  const excludedPlaces = new Set(Array.from(excluded, (id) => capability.placeOf(id)));
  const isOnline = ({ agent_id, onlineUntil }: AgentFacts) =>
    now < onlineUntil || connections.isOnline(agent_id);
  const isHashed = isRecorded && capability.size > MAX_RECORDED_CANDIDATES;
  const view = { required, records, excluded: excludedPlaces, accepts, isOnline, isHashed };
  const list: CandidateList = { candidates: [], nodes: [], digests: new DigestList() };
  const step = isHashed ? HASHED_CANDIDATES_PER_STEP : CANDIDATES_PER_STEP;
  for (let at = 0; at < capability.size; at += step) {
    if (at > 0) yield;
    capability.collect(view, at, at + step, list);
  }
  return list;
}
