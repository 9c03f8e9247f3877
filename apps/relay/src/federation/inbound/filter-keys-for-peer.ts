import type { Reader } from "../../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/** Keeps only the key that the peer of a task expects for its receipt, because it rejects any other. */
export async function filterKeysForPeer(
  read: Reader,
  taskId: string,
  known: readonly string[] | undefined,
): Promise<readonly string[]> {
  const pinned = (await findInbound(read, taskId))?.publicKey;
  return (known ?? []).filter((key) => pinned === null || key === pinned);
}
