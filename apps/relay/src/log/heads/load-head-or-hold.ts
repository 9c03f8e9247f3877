import { formatError } from "@agent/crypto";
import type { HeadFile } from "./head-file.ts";
import type { RelayLog } from "./relay-log.ts";

type LoadedHead = Awaited<ReturnType<HeadFile["load"]>>;

/** Loads the head that was served or cosigned last; if that cannot be read, signing is held. */
export async function loadHeadOrHold(
  relayLog: Pick<RelayLog, "holdSigning">,
  file: HeadFile,
  act: "served" | "cosigned",
): Promise<LoadedHead> {
  try {
    return await file.load();
  } catch (error) {
    relayLog.holdSigning(`the head ${act} last cannot be read: ${formatError(error)}`);
    return undefined;
  }
}
