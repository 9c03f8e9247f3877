import { utf8ToBytes } from "@agent/crypto";
import { NOTE_LIMITS, parseNote } from "@agent/transparency";
import type { Storage } from "../../storage/storage.ts";
import { findHead, publishHead, updateHead } from "../store.ts";

/** Beside the line of the log. */
const MAX_COSIGNATURES = NOTE_LIMITS.maxSignatures - 1;

/**
 * A line has about 100 bytes beside the name of its witness, which that witness alone has chosen. 63 of them
 * leave 2 KiB of a note for the text and the line of the log.
 */
const MAX_LINE_BYTES = 1_000;

/**
 * Adds verified cosignature lines of witnesses to a stored head. A line replaces an older one with the same
 * key. The head is published once it has `quorum` of them. Lines that are too long or beyond the first 63
 * are dropped, because they would make the note malformed for every reader.
 */
export async function addHeadCosignatures(
  storage: Storage,
  {
    size,
    lines,
    quorum,
  }: { readonly size: number; readonly lines: readonly string[]; readonly quorum: number },
): Promise<void> {
  await storage.transaction(async (tx) => {
    const head = await findHead(tx, size);
    const parsed = head === undefined ? undefined : parseNote(head.note);
    // A head that is no longer kept needs no cosignatures.
    if (parsed?.ok !== true) return;
    const { text, signatures } = parsed.note;
    const added = parseNote(`${text}\n${lines.join("")}`);
    if (!added.ok) return;
    const [own, ...older] = signatures;
    const byKey = new Map(
      [...older, ...added.note.signatures].map((each) => [`${each.name} ${each.keyId}`, each.line]),
    );
    const kept = [...byKey.values()]
      .filter((line) => utf8ToBytes(line).length <= MAX_LINE_BYTES)
      .slice(0, MAX_COSIGNATURES);
    const note = `${text}\n${own?.line}${kept.join("")}`;
    await updateHead(tx, { size, note, cosigned: kept.length });
    if (kept.length >= quorum) await publishHead(tx, size);
  });
}
