import { formatVerifierKey } from "@agent/transparency";
import type { Operations, Result } from "@agent/wire";
import type { Services } from "../services.ts";
import type { Storage } from "../storage/storage.ts";
import { countEntries } from "./entries/entry-store.ts";
import { findNewestHead, findPublishedHead } from "./store.ts";

/** Returns the state of the log for the operator. */
export async function getLogState({
  storage: { read },
  relayLog,
}: Pick<Services, "relayLog"> & { readonly storage: Pick<Storage, "read"> }): Promise<
  Omit<Result<Operations["getLogState"]>, "witnesses" | "evidence">
> {
  const [latest, published, size] = [
    await findNewestHead(read),
    await findPublishedHead(read),
    await countEntries(read),
  ];
  const { origin, logKey } = relayLog.keys();
  return {
    on: relayLog.isOn,
    origin,
    vkey: formatVerifierKey(logKey),
    size,
    lag: size - (latest?.size ?? 0),
    held: relayLog.holdReason() ?? null,
    latest: latest ?? null,
    published: published ?? null,
  };
}
