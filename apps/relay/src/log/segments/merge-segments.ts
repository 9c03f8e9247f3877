import type { Storage, Tx } from "../../storage/storage.ts";
import { planStep } from "./plan-step.ts";
import { copySlice, deleteSlice, insertSegment, listSegments } from "./segment-store.ts";

/** Each level needs a step for about 440 entries, so merges fall behind only with seven levels or more. */
const ENTRIES_PER_STEP = 64;

/** Runs as many steps of the merges as the new entries of a head demand, each in a transaction of its own. */
export async function mergeSegments(storage: Storage, entries: number): Promise<void> {
  for (let left = Math.ceil(entries / ENTRIES_PER_STEP); left > 0; left -= 1) {
    if (planStep(await listSegments(storage.read)) === undefined) return;
    await storage.transaction(runStep);
  }
}

/** Runs the next step, if there is one. */
export async function runStep(tx: Tx): Promise<void> {
  const segments = await listSegments(tx);
  const step = planStep(segments);
  if (step?.kind === "delete") await deleteSlice(tx, step.segment);
  else if (step?.kind === "copy") await copySlice(tx, step.merged, step.target);
  else if (step?.kind === "begin") {
    const { first, merged } = step;
    await insertSegment(tx, segments, { level: merged.level + 1, first, state: "filling" });
  }
}
