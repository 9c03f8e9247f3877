import { signNoShowRecord } from "@agent/receipts";
import type { Listing } from "@agent/wire";
import { findListing } from "../agents/listing-store.ts";
import type { Issuer } from "../credentials/issue.ts";
import { peerOf } from "../federation/parties.ts";
import type { Services } from "../services.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { StoredTaskRow } from "../storage/tables/tasks.ts";
import { recordOutcome } from "../trust/record-outcome.ts";
import { noShowCounts, type EndedClaim } from "./claim-rules.ts";
import { countTask, type Standing } from "./count-task.ts";
import { insertNoShow } from "./no-show-store.ts";
import { executorOf, taskOf } from "./view.ts";

export type NoShowServices = Issuer & Pick<Services, "config" | "freezer">;

/**
 * Stores and counts that the holder of a claim let it end, once for each task and holder; undefined
 * when it does not count. `row` is the task as it was while it was claimed.
 */
export async function recordNoShow(
  tx: Tx,
  services: NoShowServices,
  row: StoredTaskRow,
): Promise<Standing | undefined> {
  const { identity, runtime, freezer } = services;
  const peer = peerOf(row);
  const holder = peer ?? executorOf(row);
  const now = runtime.now();
  const lapsed_at = Math.min(now, row.lease_until ?? now, row.expires_at);
  const claim: EndedClaim = {
    claimed_at: row.claimed_at,
    lapsed_at,
    priced: row.allocation_id !== null,
    max_latency_ms: peer === undefined ? await maxLatencyOf(tx, holder) : null,
    running_since: freezer.runningSince(),
    now,
  };
  const counts = noShowCounts(claim);
  if (row.claimed_at === null || counts === "none") return undefined;
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
  const { delegation_token: _, ...shown } = taskOf(row);
  const isNew = await insertNoShow(tx, {
    task_id,
    agent_id: holder,
    target_id: row.agent_id,
    submitted_by: row.submitted_by,
    lapsed_at,
    task: JSON.stringify({ ...shown, prompt: "" }),
    record: JSON.stringify(record),
  });
  if (!isNew) return undefined;
  if (peer === undefined) {
    const outcome = { executorId: holder, status: "failed", pairOnly: counts === "pair" } as const;
    return countTask(tx, services, row, outcome);
  }
  // What is known of a peer is shared by all agents of this relay, so none of them fills it for free.
  if (counts === "pair") return undefined;
  const trust = await recordOutcome(tx, {
    delegatorId: identity.relayId,
    executorId: holder,
    status: "failed",
    latencyMs: now - row.submitted_at,
    priced: claim.priced,
    now,
  });
  return { trust, credentials: [] };
}

async function maxLatencyOf(read: Reader, agentId: string): Promise<number | null> {
  const listing = await findListing(read, agentId);
  if (listing === undefined) return null;
  return (JSON.parse(listing.body) as Listing).sla?.max_latency_ms ?? null;
}
