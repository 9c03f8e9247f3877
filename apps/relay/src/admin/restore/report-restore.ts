import { listAllWithdrawals } from "../../budget/transfers/list-withdrawals.ts";
import { listPeersToCompare } from "../../federation/exposure/list-peers-to-compare.ts";
import type { Services } from "../../services.ts";

/**
 * Logs what the operator must check before a restored relay continues: withdrawals that may have been
 * paid since the backup, and peers that may have newer records.
 */
export async function reportRestore(
  services: Pick<Services, "freezer" | "storage" | "log">,
): Promise<void> {
  const { freezer, storage, log } = services;
  const frozen = freezer.frozen();
  if (frozen?.restored !== true) return;
  const { reason, since } = frozen;
  log.warn("relay.restored", { incarnation: freezer.incarnation, reason, since });
  let cursor: string | undefined;
  do {
    const page = await listAllWithdrawals(services, { status: "pending", cursor });
    if (!page.ok) throw new Error(`pending withdrawals cannot be listed: ${page.code}`);
    for (const { withdrawal_id, agent_id, amount, destination, created_at } of page.body
      .withdrawals) {
      const about = { withdrawal_id, agent_id, amount, destination, created_at };
      log.warn("relay.restored.withdrawal_pending", about);
    }
    cursor = page.body.next_cursor ?? undefined;
  } while (cursor !== undefined);
  for (const peer of await listPeersToCompare(storage.read)) {
    log.warn("relay.restored.peer_to_compare", { ...peer });
  }
}
