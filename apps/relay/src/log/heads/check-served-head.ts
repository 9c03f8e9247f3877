import type { Reader } from "../../storage/storage.ts";
import type { RelayLog } from "./relay-log.ts";
import type { HeadFile } from "./head-file.ts";
import { loadHeadOrHold } from "./load-head-or-hold.ts";
import { findNewestHead } from "../store.ts";

/**
 * Signs no head if a larger one was served than this database has, because it is an older copy then, nor if it
 * cannot be read which one was served.
 */
export async function checkServedHead(
  relayLog: Pick<RelayLog, "keys" | "holdSigning">,
  read: Reader,
  served: HeadFile,
): Promise<void> {
  const last = await loadHeadOrHold(relayLog, served, "served");
  const size = (await findNewestHead(read))?.size ?? 0;
  if (last === undefined || last.head.origin !== relayLog.keys().origin) return;
  if (last.head.size <= size) return;
  relayLog.holdSigning(
    `a head of size ${last.head.size} was served, and this database has ${size}`,
  );
}
