import { toMicro } from "@agent/budget";
import { rankAndRecord, type RoutingRecord } from "@agent/routing-semiring";
import type { RoutingChoice } from "@agent/wire";
import { profilesWith } from "../agents/profile-store.ts";
import type { FederatingParts } from "../federation/federation.ts";
import { remoteCandidates, type PinnedAgent } from "../federation/remote-candidates.ts";
import type { Services } from "../services.ts";
import type { Attempt } from "./attempt.ts";
import { candidateOf } from "./candidates.ts";

export interface Wanted {
  readonly payerId: string | null;
  /** At least one. */
  readonly required: readonly string[];
  readonly excluded: readonly string[];
  readonly maxBudget: number | undefined;
  readonly explorationDrive: number;
  /** The target and the key that the submission names for it. */
  readonly pinned?: PinnedAgent;
}

/** How many executors of a ranking a task may come to. */
const triedAtMost = 8;

export type ChooseServices = FederatingParts & Pick<Services, "federation">;

/**
 * Ranks everybody who can do a task and answers whom to try in turn, with the price of each. The
 * submitter never gets its own task this way, and no agent above `maxBudget` does; that cap changes
 * neither scores nor order, so that a caller loses nothing by naming it (docs/decisions.md, 4).
 */
export async function chooseExecutors(
  services: ChooseServices,
  { payerId, required, excluded, maxBudget, explorationDrive, pinned }: Wanted,
): Promise<{ executors: Attempt[]; choice: RoutingChoice | null; record?: RoutingRecord }> {
  const { storage, runtime, connections, trustGraph, federation } = services;
  const [capability = ""] = required;
  const rows = await profilesWith(storage.read, { reader: payerId ?? "", capability });
  const left = new Set(payerId === null ? excluded : [...excluded, payerId]);
  const now = runtime.now();
  const remote =
    federation === undefined
      ? []
      : await remoteCandidates({ ...services, federation }, required, pinned, (agentId) =>
          trustGraph.isBlocked(payerId, agentId),
        );
  const candidates = rows
    .flatMap((row) => candidateOf(row, required, connections, now) ?? [])
    .concat(remote.map(({ candidate }) => candidate))
    .filter(({ agent_id }) => !left.has(agent_id));
  const { ranking, record } = rankAndRecord(candidates, {
    graph: trustGraph.graph,
    from: payerId ?? "self",
    avoided: trustGraph.blockedBy(payerId),
    requiredCapabilities: required,
    explorationDrive,
    seed: seedFrom(runtime.randomBytes(4)),
    limit: triedAtMost,
    // Those that may not be chosen would take the places of those that may.
    onlyEligible: true,
    ...(maxBudget !== undefined && { priceCap: maxBudget }),
  });
  const { ranked, choice } = ranking;
  if (choice === null) return { executors: [], choice };
  const prices = new Map(candidates.map(({ agent_id, unit_cost }) => [agent_id, unit_cost ?? 0]));
  const others = ranked.filter(({ agent_id }) => agent_id !== choice.selected_agent);
  // Exploration may choose somebody who does not rank first.
  const inTurn = [choice.selected_agent, ...others.map(({ agent_id }) => agent_id)];
  const ways = new Map(remote.map(({ candidate, via }) => [candidate.agent_id, via]));
  const executors = inTurn.map((agent_id): Attempt => {
    const via = ways.get(agent_id);
    const charge = toMicro(prices.get(agent_id) ?? 0);
    return via === undefined ? { agent_id, charge } : { agent_id, charge, via };
  });
  return { executors, choice, record };
}

function seedFrom(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}
