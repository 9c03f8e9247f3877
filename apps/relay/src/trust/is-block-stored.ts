import type { Reader } from "../storage/storage.ts";
import { BLOCKED } from "./levels.ts";
import { findTrust } from "./store.ts";

/** Returns whether a payer has blocked an executor; a task without a payer excludes none. */
export async function isBlockStored(
  read: Reader,
  payerId: string | null,
  executorId: string,
): Promise<boolean> {
  if (payerId === null) return false;
  const stored = await findTrust(read, payerId, executorId);
  return stored?.trust_level === BLOCKED;
}
