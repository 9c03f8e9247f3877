import { toMicro } from "@agent/budget";
import {
  MAX_RECORDED_CANDIDATES,
  rankAndRecordInSteps,
  type Candidate,
  type Ranking,
  type RankOptions,
  type RoutingRecord,
} from "@agent/routing-semiring";
import type { RoutingChoice } from "@agent/wire";
import type { FederationDependencies } from "../federation/federation-services.ts";
import {
  listRemoteCandidates,
  type PinnedAgent,
  type RemoteCandidate,
} from "../federation/discovery/list-remote-candidates.ts";
import type { Services } from "../services.ts";
import type { Attempt } from "./attempt.ts";
import type { AgentFacts } from "./candidates/agent-facts.ts";
import { DigestList } from "./candidates/digest-list.ts";
import { hashDigests } from "./candidates/hash-digests.ts";
import { findCandidate, hashCandidate, type CandidateList } from "./candidates/kept-capability.ts";

export interface ExecutorQuery {
  readonly payerId: string | null;
  /** Must hold at least one. */
  readonly required: readonly string[];
  readonly excluded: readonly string[];
  readonly maxBudget: number | undefined;
  readonly explorationDrive: number;
  /** The target and the key that the submission names for it. */
  readonly pinned?: PinnedAgent;
  /** Filters the agents of this relay by a predicate; agents of other relays are all left out. */
  readonly accepts?: ((facts: AgentFacts) => boolean) | undefined;
}

/** Limits the executors of a ranking that a task may be assigned to. */
const MAX_EXECUTORS = 8;

export type ExecutorServices = FederationDependencies & Pick<Services, "federation" | "candidates">;

/**
 * Ranks all agents that can do a task, and returns the executors to try in order, with their prices.
 * Excludes the submitter and agents above `maxBudget`; that limit changes neither scores nor order, so
 * that a caller loses nothing by stating it (docs/decisions.md, 4).
 */
export async function rankExecutors(
  services: ExecutorServices,
  { payerId, required, excluded, maxBudget, explorationDrive, pinned, accepts }: ExecutorQuery,
): Promise<{ executors: Attempt[]; choice: RoutingChoice | null; record?: RoutingRecord }> {
  const { runtime, candidates, trustGraph, federation } = services;
  const remote =
    federation === undefined || accepts !== undefined
      ? []
      : await listRemoteCandidates(
          { ...services, federation },
          {
            payerId,
            required,
            pinned,
            isBlocked: (agentId) => trustGraph.isBlocked(payerId, agentId),
          },
        );
  const excludedIds = new Set(payerId === null ? excluded : [...excluded, payerId]);
  const others = remote.filter(({ candidate }) => !excludedIds.has(candidate.agent_id));
  const query = {
    askerId: payerId ?? "",
    required,
    excluded: excludedIds,
    accepts,
    isRecorded: true,
  };
  return candidates.rankInTurn(query, function* rankAll(local) {
    const { ranking, record } = yield* rankWithRecord(appendRemote(local, others), {
      ...trustGraph.routesFrom(payerId),
      requiredCapabilities: required,
      explorationDrive,
      seed: parseSeed(runtime.randomBytes(4)),
      limit: MAX_EXECUTORS,
      // Ineligible agents would displace eligible ones.
      onlyEligible: true,
      ...(maxBudget !== undefined && { priceCap: maxBudget }),
    });
    const { choice } = ranking;
    if (choice === null) return { executors: [], choice };
    return { executors: listAttempts(ranking, local.candidates, others), choice, record };
  });
}

/** Ranks candidates and hashes them if there are too many to be recorded. */
function* rankWithRecord({ candidates, digests, nodes }: CandidateList, options: RankOptions) {
  const hash =
    candidates.length > MAX_RECORDED_CANDIDATES
      ? yield* hashDigests(digests.length > 0 ? digests : addDigests(new DigestList(), candidates))
      : "";
  return yield* rankAndRecordInSteps(candidates, { ...options, nodes, hashInputs: () => hash });
}

/** Appends candidates of other relays, whose digests are appended to the same list. */
function appendRemote(local: CandidateList, remote: readonly RemoteCandidate[]): CandidateList {
  if (remote.length === 0) return local;
  const added = remote.map(({ candidate }) => candidate);
  return {
    candidates: [...local.candidates, ...added],
    // Remote candidates have a route of their own.
    nodes: [...local.nodes, ...added.map(() => -1)],
    digests: local.digests.length > 0 ? addDigests(local.digests, added) : local.digests,
  };
}

function addDigests(digests: DigestList, candidates: readonly Candidate[]): DigestList {
  for (const candidate of candidates) digests.add(hashCandidate(candidate));
  return digests;
}

/** Lists the executors to try in order. Exploration may choose an agent that does not rank first. */
function listAttempts(
  { ranked, choice }: Ranking,
  local: readonly Candidate[],
  remote: readonly RemoteCandidate[],
): Attempt[] {
  const first = choice?.selected_agent ?? "";
  const others = ranked.filter(({ agent_id }) => agent_id !== first);
  const orderedIds = [first, ...others.map(({ agent_id }) => agent_id)];
  return orderedIds.map((agent_id): Attempt => {
    const other = remote.find(({ candidate }) => candidate.agent_id === agent_id);
    const { unit_cost } = other?.candidate ?? findCandidate(local, agent_id) ?? { unit_cost: 0 };
    const charge = toMicro(unit_cost ?? 0);
    return other === undefined ? { agent_id, charge } : { agent_id, charge, via: other.nextHop };
  });
}

function parseSeed(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}
