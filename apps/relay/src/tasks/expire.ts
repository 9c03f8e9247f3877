import { isForwarded } from "../federation/is-forwarded.ts";
import { isWithPeer } from "../federation/parties.ts";
import type { Tx } from "../storage/storage.ts";
import type { StoredTaskRow } from "../storage/tables/tasks.ts";
import { worksAtExpiry } from "./claim-rules.ts";
import { announceStanding, type Standing } from "./count-task.ts";
import type { LapseServices } from "./lapse-claim.ts";
import { markNoShowsExpired } from "./no-show-store.ts";
import { recordNoShow } from "./record-no-show.ts";
import { isAtEndpoint } from "./view.ts";
import { announceEndWithoutReceipt, endWithoutReceipt } from "./end-without-receipt.ts";
import { expiredTasks, removeExpired } from "./store.ts";

const batch = 500;

/** Removes tasks whose time is over and returns their holds; what expired while the relay was down too. */
export async function expireTasks(services: LapseServices): Promise<void> {
  const { storage, runtime, log } = services;
  for (;;) {
    const due = await expiredTasks(storage.read, runtime.now(), batch);
    await Promise.all(
      due.map(async ({ task_id }) => {
        const removed = await storage.transaction(async (tx) => {
          const row = await removeExpired(tx, task_id, runtime.now());
          if (row === undefined) return undefined;
          const standing = await noShowAtExpiry(tx, services, row);
          await markNoShowsExpired(tx, task_id);
          await endWithoutReceipt(tx, services, row, "expired");
          return { row, standing };
        });
        if (removed === undefined) return;
        log.info("task.expired", { correlationId: task_id });
        announceEndWithoutReceipt(services, removed.row);
        if (removed.standing !== undefined) announceStanding(services, task_id, removed.standing);
      }),
    );
    if (due.length < batch) return;
  }
}

/** A claim that its holder did not work on any more when the task expired is a no-show. */
async function noShowAtExpiry(
  tx: Tx,
  services: LapseServices,
  row: StoredTaskRow,
): Promise<Standing | undefined> {
  const { worked_at, expires_at } = row;
  if (row.status !== "claimed") return undefined;
  if (isWithPeer(row)) {
    // Without the peer's word that it has the task it may never have arrived.
    return (await isForwarded(tx, row.task_id)) ? recordNoShow(tx, services, row) : undefined;
  }
  const inCall = isAtEndpoint(row);
  return worksAtExpiry({ worked_at, expires_at, inCall })
    ? undefined
    : recordNoShow(tx, services, row);
}
