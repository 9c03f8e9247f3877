import type { Storage } from "../../storage/storage.ts";
import {
  deleteConsoleSessions,
  insertRestoredFreeze,
  raiseIncarnation,
} from "./incarnation-store.ts";

/**
 * Begins a new incarnation of the stopped relay in a database that was restored at `now` (ms), and
 * returns its number. The relay starts frozen, because it does not know the payments after the backup. No
 * console session continues, because it may have been revoked since.
 */
export function beginIncarnation(storage: Storage, now: number): Promise<number> {
  const reason = `restored from a backup at ${new Date(now).toISOString()}`;
  return storage.transaction(async (tx) => {
    await insertRestoredFreeze(tx, { since: now, reason });
    await deleteConsoleSessions(tx);
    return raiseIncarnation(tx, Math.floor(now / 1_000));
  });
}
