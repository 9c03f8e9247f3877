import { createRetrySchedule } from "@agent/federation-protocol/delivery";
import { signNoShowRecord } from "@agent/receipts";
import { entryOf } from "@agent/transparency";
import { findListing } from "../../agents/discovery/listing-store.ts";
import { hasHeldCardMoney } from "../../budget/accounts/has-held-card-money.ts";
import type { IssuerDependencies } from "../../credentials/issue.ts";
import { appendLog } from "../../log/entries/append.ts";
import type { Services } from "../../services.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import { useFeesForPeer } from "../../trust/counts-for-peer.ts";
import { recordTrustOutcome } from "../../trust/record-trust-outcome.ts";
import { noShowScope, RECOVERY_MS, type EndedClaim } from "./claim-rules.ts";
import {
  getTaskFee,
  recordTaskOutcome,
  type ReputationUpdate,
} from "../receipts/record-task-outcome.ts";
import { insertNoShow } from "./no-show-store.ts";
import { executorOf } from "../task.ts";
import { toTaskWithoutPrompt } from "../task-view.ts";
import { parseListing } from "../../agents/discovery/parse-listing.ts";

export type NoShowServices = IssuerDependencies & Pick<Services, "config" | "freezer" | "clock">;

/**
 * Stores and counts a no-show, once for each task and holder; undefined when it does not count.
 * `row` is the task as it was while it was claimed.
 */
export async function recordNoShow(
  tx: Tx,
  services: NoShowServices,
  row: StoredTaskRow,
): Promise<ReputationUpdate | undefined> {
  const { identity, runtime, config, freezer, clock } = services;
  const peer = row.via_peer ?? undefined;
  const holder = peer ?? executorOf(row);
  const now = runtime.now();
  const lapsed_at = Math.min(now, row.lease_until ?? now, row.expires_at);
  const claim: EndedClaim = {
    claimed_at: row.claimed_at,
    lapsed_at,
    priced: row.allocation_id !== null,
    max_latency_ms: peer === undefined ? await getPromisedLatencyMs(tx, holder) : null,
    // After an accepted jump of the clock, the claim's duration is not real time.
    running_since: Math.max(freezer.runningSince(), now - clock.elapsed() + clock.lastMovedAt()),
    recovery_ms: peer === undefined ? RECOVERY_MS : peerRecoveryMs(config),
    now,
  };
  const scope = noShowScope(claim);
  if (row.claimed_at === null || scope === "none") return undefined;
  const { task_id, wall_clock_ms } = row;
  const record = signNoShowRecord(
    {
      task_id,
      agent_id: holder,
      claimed_at: row.claimed_at,
      lapsed_at: Math.max(lapsed_at, row.claimed_at),
      wall_clock_ms,
      priced: claim.priced,
      issuer: identity.did,
    },
    identity.secretKey,
  );
  const isNew = await insertNoShow(tx, {
    task_id,
    agent_id: holder,
    target_id: row.agent_id,
    submitted_by: row.submitted_by,
    lapsed_at,
    task: JSON.stringify(toTaskWithoutPrompt(row)),
    record: JSON.stringify(record),
  });
  if (!isNew) return undefined;
  await appendLog(tx, () => entryOf.noShow(record, { time: now }));
  if (peer === undefined) {
    return recordTaskOutcome(tx, services, row, {
      executorId: holder,
      status: "failed",
      pairOnly: scope === "pair",
      hasCardMoney: await hasHeldCardMoney(tx, task_id, now),
    });
  }
  return scope === "pair" ? undefined : recordPeerNoShow(tx, services, row, peer);
}

/**
 * Counts a no-show of a peer. All agents of this relay share a peer's trust record, so tasks that cost their
 * payer nothing must not change it.
 */
async function recordPeerNoShow(
  tx: Tx,
  { identity, runtime, config }: NoShowServices,
  row: StoredTaskRow,
  peerId: string,
): Promise<ReputationUpdate | undefined> {
  const now = runtime.now();
  const priced = row.allocation_id !== null;
  const ordered = { payerId: row.submitted_by, priced, fee: getTaskFee(row, config) };
  if (!(await useFeesForPeer(tx, { peerId, ...ordered }))) return undefined;
  const trust = await recordTrustOutcome(tx, {
    delegatorId: identity.relayId,
    executorId: peerId,
    status: "failed",
    latencyMs: now - row.submitted_at,
    priced,
    fee: 0,
    now,
  });
  return { trust, credentials: [] };
}

async function getPromisedLatencyMs(read: Reader, agentId: string): Promise<number | null> {
  const listing = await findListing(read, agentId);
  if (listing === undefined) return null;
  return parseListing(listing.body).sla?.max_latency_ms ?? null;
}

/**
 * A peer that could not reach this relay returns its result only after a pause of its schedule.
 */
function peerRecoveryMs({ federation }: Pick<Services["config"], "federation">): number {
  return RECOVERY_MS + Math.max(...createRetrySchedule(federation.retryScale).pauses);
}
