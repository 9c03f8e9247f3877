import { ZERO } from "@agent/budget";
import { isUuid } from "@agent/crypto";
import { createTrustRecord, setTrustLevel } from "@agent/routing-semiring";
import { refuse, type Answer, type Operations, type TrustLevel } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { refuseField } from "../http/server/validate.ts";
import type { Services } from "../services.ts";
import { toTrustRecord, toTrustRow } from "./levels.ts";
import { findTrustPair } from "./pair-store.ts";
import { saveTrustChange } from "./save-trust-change.ts";

interface LevelChange {
  readonly agentId: string;
  readonly remoteId: string;
  readonly level: TrustLevel;
}

/**
 * Blocks an agent for a delegator, whose tasks that it has not begun go to others; any other level is earned by
 * tasks (docs/decisions.md, 6).
 */
export async function updateTrustLevel(
  {
    storage,
    runtime,
    trustGraph,
    router,
    log,
  }: Pick<Services, "storage" | "runtime" | "trustGraph" | "router" | "log">,
  { agentId, remoteId, level }: LevelChange,
): Promise<Answer<Operations["setTrustLevel"]>> {
  // The remote agent may belong to another relay, or register here later.
  if (!isUuid(remoteId)) return refuseField("remoteId", "must be a UUID");
  if (agentId === remoteId) return refuseField("remoteId", "must be another agent");
  const now = runtime.now();
  const set = await storage.transaction(async (tx) => {
    if ((await findAgent(tx, agentId)) === undefined) return refuse("agent.not_found");
    const before = await findTrustPair(tx, agentId, remoteId);
    const { record: stored } = before;
    const trusted =
      stored === undefined ? createTrustRecord(agentId, remoteId, now) : toTrustRecord(stored);
    const changed = setTrustLevel(trusted, level);
    if (!changed.ok) return refuse(changed.code);
    if (level !== "blocked") return refuse("trust.level_earned");
    const row = toTrustRow(changed.record, stored ?? { paid_tasks: 0, fees_kept: ZERO });
    await saveTrustChange(tx, { before, record: row });
    return { ok: true as const, row };
  });
  if (!set.ok) return set;
  trustGraph.update(set.row);
  router.reassignBlocked(agentId, remoteId);
  log.info("trust.blocked", { agent_id: agentId, remote_agent_id: remoteId });
  return { status: 200, body: toTrustRecord(set.row) };
}
