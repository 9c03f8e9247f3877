import type { Services } from "../services.ts";
import { StorageFrozen, StorageUnavailable } from "../storage/storage.ts";
import { probeWrite } from "./store.ts";

/**
 * Returns why the database accepts no writes; undefined while it does. After a failure it writes again, because
 * a transaction that changes nothing succeeds on a full disk too.
 */
export async function checkWrites({
  writes,
  freezer,
}: Pick<Services, "writes" | "freezer">): Promise<string | undefined> {
  const failure = writes.failure();
  if (failure === undefined) return undefined;
  try {
    await freezer.writeAlways(probeWrite);
    writes.clear(failure);
    return undefined;
  } catch (error) {
    if (error instanceof StorageUnavailable) return error.message;
    if (error instanceof StorageFrozen) return failure.message;
    throw error;
  }
}
