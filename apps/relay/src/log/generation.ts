import { entryOf, parseCheckpoint } from "@agent/transparency";
import type { Tx } from "../storage/storage.ts";
import type { LogStateRow } from "../storage/tables/log.ts";
import { appendLog } from "./entries/append.ts";
import { clearLog, findBeginning, findLogState, findNewestHead, saveLogState } from "./store.ts";

/** Returns the origin of a generation of the log. */
export function formatOrigin({
  origin,
  generation,
}: Pick<LogStateRow, "origin" | "generation">): string {
  return generation === 0 ? origin : `${origin}/${generation}`;
}

interface Beginning {
  readonly incarnation: number;
  /** The time in ms. */
  readonly now: number;
}

/**
 * Begins a new generation of the log under a new origin, because the stored entries may be older than what
 * was published. Its first entry names the last head that this database knows.
 */
export async function beginGeneration(
  tx: Tx,
  state: LogStateRow,
  { incarnation, now }: Beginning,
): Promise<LogStateRow> {
  const head = await findNewestHead(tx);
  const parsed = head === undefined ? undefined : parseCheckpoint(head.note);
  const text = parsed?.ok === true ? parsed.note.text : null;
  const next = {
    ...state,
    generation: Math.max(Math.floor(now / 1_000), incarnation, state.generation + 1),
    incarnation,
    began_at: await findBeginning(tx, now),
    keys_entered: 0,
    published: 0,
  };
  await clearLog(tx);
  await saveLogState(tx, next);
  await appendLog(tx, () =>
    entryOf.continued(text, { time: now, olderOrigin: formatOrigin(state) }),
  );
  return next;
}

/** Begins a new generation if the database was restored from a backup since the last one began. */
export async function beginRestoredGeneration(tx: Tx, beginning: Beginning): Promise<void> {
  const state = await findLogState(tx);
  if (state !== undefined && state.incarnation !== beginning.incarnation) {
    await beginGeneration(tx, state, beginning);
  }
}
