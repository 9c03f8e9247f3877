import { toMicro } from "@agent/budget";
import { rankAndRecord, type RoutingRecord } from "@agent/routing-semiring";
import type { RoutingChoice } from "@agent/wire";
import { listProfilesByCapability } from "../agents/discovery/profile-store.ts";
import type { FederationDependencies } from "../federation/federation-services.ts";
import {
  listRemoteCandidates,
  type PinnedAgent,
} from "../federation/discovery/list-remote-candidates.ts";
import type { Services } from "../services.ts";
import type { Attempt } from "./attempt.ts";
import { buildCandidate } from "./build-candidate.ts";

export interface ExecutorQuery {
  readonly payerId: string | null;
  /** Must hold at least one. */
  readonly required: readonly string[];
  readonly excluded: readonly string[];
  readonly maxBudget: number | undefined;
  readonly explorationDrive: number;
  /** The target and the key that the submission names for it. */
  readonly pinned?: PinnedAgent;
}

/** Limits the executors of a ranking that a task may be assigned to. */
const MAX_EXECUTORS = 8;

export type ExecutorServices = FederationDependencies & Pick<Services, "federation">;

/**
 * Ranks all agents that can do a task, and returns the executors to try in order, with their prices.
 * Excludes the submitter and agents above `maxBudget`; that limit changes neither scores nor order, so
 * that a caller loses nothing by stating it (docs/decisions.md, 4).
 */
export async function rankExecutors(
  services: ExecutorServices,
  { payerId, required, excluded, maxBudget, explorationDrive, pinned }: ExecutorQuery,
): Promise<{ executors: Attempt[]; choice: RoutingChoice | null; record?: RoutingRecord }> {
  const { storage, runtime, connections, trustGraph, federation } = services;
  const [capability = ""] = required;
  const rows = await listProfilesByCapability(storage.read, { reader: payerId ?? "", capability });
  const excludedIds = new Set(payerId === null ? excluded : [...excluded, payerId]);
  const now = runtime.now();
  const remote =
    federation === undefined
      ? []
      : await listRemoteCandidates({ ...services, federation }, required, pinned, (agentId) =>
          trustGraph.isBlocked(payerId, agentId),
        );
  const candidates = rows
    .flatMap((row) => buildCandidate(row, required, connections, now) ?? [])
    .concat(remote.map(({ candidate }) => candidate))
    .filter(({ agent_id }) => !excludedIds.has(agent_id));
  const { ranking, record } = rankAndRecord(candidates, {
    graph: trustGraph.graph,
    from: payerId ?? "self",
    avoided: trustGraph.blockedBy(payerId),
    requiredCapabilities: required,
    explorationDrive,
    seed: parseSeed(runtime.randomBytes(4)),
    limit: MAX_EXECUTORS,
    // Ineligible agents would displace eligible ones.
    onlyEligible: true,
    ...(maxBudget !== undefined && { priceCap: maxBudget }),
  });
  const { ranked, choice } = ranking;
  if (choice === null) return { executors: [], choice };
  const prices = new Map(candidates.map(({ agent_id, unit_cost }) => [agent_id, unit_cost ?? 0]));
  const others = ranked.filter(({ agent_id }) => agent_id !== choice.selected_agent);
  // Exploration may choose an agent that does not rank first.
  const orderedIds = [choice.selected_agent, ...others.map(({ agent_id }) => agent_id)];
  const nextHops = new Map(remote.map(({ candidate, nextHop }) => [candidate.agent_id, nextHop]));
  const executors = orderedIds.map((agent_id): Attempt => {
    const nextHop = nextHops.get(agent_id);
    const charge = toMicro(prices.get(agent_id) ?? 0);
    return nextHop === undefined ? { agent_id, charge } : { agent_id, charge, via: nextHop };
  });
  return { executors, choice, record };
}

function parseSeed(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}
