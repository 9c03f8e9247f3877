import type { Storage } from "../storage/storage.ts";
import { beginGeneration, formatOrigin } from "./generation.ts";
import { findLogState } from "./store.ts";

/** Begins a new generation of a stopped relay's log and returns its origin; undefined without a log. */
export function restartLog(storage: Storage, now: number): Promise<string | undefined> {
  return storage.transaction(async (tx) => {
    const state = await findLogState(tx);
    if (state === undefined) return undefined;
    const { incarnation } = state;
    return formatOrigin(await beginGeneration(tx, state, { incarnation, now }));
  });
}
