import type { Reader } from "../../storage/storage.ts";
import type { RelayLog } from "./relay-log.ts";
import type { ServedHead } from "./served-head.ts";
import { findNewestHead } from "../store.ts";

/** Signs no head if a larger one was served than this database has: it is an older copy. */
export async function checkServedHead(
  relayLog: Pick<RelayLog, "keys" | "holdSigning">,
  read: Reader,
  served: ServedHead,
): Promise<void> {
  const last = served.load();
  const size = (await findNewestHead(read))?.size ?? 0;
  if (last === undefined || last.origin !== relayLog.keys().origin || last.size <= size) return;
  relayLog.holdSigning(`a head of size ${last.size} was served, and this database has ${size}`);
}
