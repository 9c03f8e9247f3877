import type { Tx } from "../../storage/storage.ts";
import { getTrustThresholds } from "./backing-store.ts";
import { getOrCreateGroup, listExecutorsOfBoth, mergeGroups } from "./key-sharer-store.ts";
import { rebuildBacking } from "./rebuild-backing.ts";

/** Makes two agents that hold the same secret key count as one payer, with all that count as one of them. */
export async function linkPayers(tx: Tx, agentId: string, otherId: string): Promise<void> {
  const one = await getOrCreateGroup(tx, agentId);
  const other = await getOrCreateGroup(tx, otherId);
  if (one === other) return;
  const executors = await listExecutorsOfBoth(tx, one, other);
  await mergeGroups(tx, other, one);
  const thresholds = await getTrustThresholds(tx);
  for (const executor of executors) await rebuildBacking(tx, executor, thresholds);
}
