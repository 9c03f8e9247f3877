import type { Reader } from "../../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/** The key that the peer of a task expects of its receipt: it takes the result under no other. */
export async function filterKeysForPeer(
  read: Reader,
  taskId: string,
  known: readonly string[] | undefined,
): Promise<readonly string[]> {
  const pinned = (await findInbound(read, taskId))?.publicKey;
  return (known ?? []).filter((key) => pinned === null || key === pinned);
}
