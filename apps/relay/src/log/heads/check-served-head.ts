import { formatError } from "@agent/crypto";
import type { Reader } from "../../storage/storage.ts";
import type { RelayLog } from "./relay-log.ts";
import type { ServedHead } from "./served-head.ts";
import { findNewestHead } from "../store.ts";

/**
 * Signs no head if a larger one was served than this database has, because it is an older copy then, nor if it
 * cannot be read which one was served.
 */
export async function checkServedHead(
  relayLog: Pick<RelayLog, "keys" | "holdSigning">,
  read: Reader,
  served: ServedHead,
): Promise<void> {
  let last: Awaited<ReturnType<ServedHead["load"]>>;
  try {
    last = await served.load();
  } catch (error) {
    return relayLog.holdSigning(`the head served last cannot be read: ${formatError(error)}`);
  }
  const size = (await findNewestHead(read))?.size ?? 0;
  if (last === undefined || last.origin !== relayLog.keys().origin || last.size <= size) return;
  relayLog.holdSigning(`a head of size ${last.size} was served, and this database has ${size}`);
}
