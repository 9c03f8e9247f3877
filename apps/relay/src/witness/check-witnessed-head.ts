import { equalBytes } from "@agent/crypto";
import { computeRoot, openCheckpoint, type VerifierKey } from "@agent/transparency";
import { readTile } from "../log/heads/read-tile.ts";
import type { Reader } from "../storage/storage.ts";

export type WitnessedHeadResult =
  /** The head that a witness shows is one of this log; its size. */
  | { readonly fits: true; readonly size: number }
  /** This log signed the head, and this database does not have it. */
  | { readonly fits: false; readonly size: number }
  /** It is not signed by this log, so it proves nothing. */
  | undefined;

/**
 * Checks the head of the relay's own log that a witness shows. A valid signature on a head that this
 * database does not have means that the database is an older copy, or that the key was used elsewhere.
 */
export async function checkWitnessedHead(
  read: Reader,
  shown: string,
  { logKey, size }: { readonly logKey: VerifierKey; readonly size: number },
): Promise<WitnessedHeadResult> {
  const opened = openCheckpoint(shown, { logKey });
  if (!opened.ok) return undefined;
  const { head } = opened;
  if (head.size > size) return { fits: false, size: head.size };
  if (head.size === 0) return { fits: true, size: 0 };
  const root = await computeRoot(head.size, (level, n, width) => readTile(read, level, n, width));
  return { fits: equalBytes(root, head.root), size: head.size };
}
