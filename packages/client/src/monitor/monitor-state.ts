import { parseCheckpoint } from "@agent/transparency";
import * as v from "valibot";

const CheckpointSchema = v.pipe(
  v.string(),
  v.check((text) => parseCheckpoint(text).ok),
);

const MonitorStateSchema = v.object({
  /** The verifier key of the log. */
  log: v.string(),
  /** The last checkpoint that passed every check; null before the first one. */
  checkpoint: v.nullable(CheckpointSchema),
  /** When this checkpoint was seen first, in ms since the epoch. */
  first_seen_at: v.pipe(v.number(), v.safeInteger()),
  /** The number of entries of the checkpoint that were scanned; all of them if it is absent. */
  scanned: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  /** The known receipts and the artifacts of known tasks seen so far, as `scanEntries` returns them. */
  seen: v.array(v.string()),
  /** Checkpoints that the log signed but that are not yet proven to be of one tree. */
  unproven: v.optional(v.array(CheckpointSchema), []),
});

/** The stored state of a monitor between two rounds. */
export type MonitorState = v.InferOutput<typeof MonitorStateSchema>;

/** Parses the text of a stored state; null for anything else. */
export function parseMonitorState(text: string): MonitorState | null {
  try {
    const parsed = v.safeParse(MonitorStateSchema, JSON.parse(text));
    return parsed.success && hasPossibleProgress(parsed.output) ? parsed.output : null;
  } catch {
    return null;
  }
}

/** A state that claims more scanned entries than its head has would silently skip entries. */
function hasPossibleProgress({ checkpoint, scanned = 0 }: MonitorState): boolean {
  const parsed = checkpoint === null ? undefined : parseCheckpoint(checkpoint);
  return scanned <= (parsed?.ok === true ? parsed.head.size : 0);
}
