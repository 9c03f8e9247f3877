import type { Services } from "../services.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { findIdentity, saveScrubPending } from "./store.ts";

/** Marks in a transaction that it replaces data which must not stay readable in the files. */
export function requestScrub(tx: Tx): Promise<void> {
  return saveScrubPending(tx, true);
}

/** Returns whether replaced data may still be readable in the files. */
export async function isScrubPending(read: Reader): Promise<boolean> {
  return (await findIdentity(read))?.scrub_pending === 1;
}

/**
 * Removes replaced data from the files; false while another program reads the database. Then the mark in the
 * database stays, and the job below tries again.
 */
export async function finishScrub(storage: Services["storage"]): Promise<boolean> {
  if (!(await storage.scrub())) return false;
  await storage.transaction((tx) => saveScrubPending(tx, false));
  return true;
}

/** Tries again to remove an earlier key or erased texts from the files. */
export async function retryScrub({
  storage,
  log,
}: Pick<Services, "storage" | "log">): Promise<void> {
  if (!(await isScrubPending(storage.read)) || (await finishScrub(storage))) return;
  log.warn("identity.scrub_pending", {});
}
