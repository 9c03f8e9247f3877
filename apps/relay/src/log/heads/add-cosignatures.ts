import { parseNote } from "@agent/transparency";
import type { Storage } from "../../storage/storage.ts";
import { findHead, publishHead, updateHead } from "../store.ts";

/**
 * Adds lines of witnesses, which were verified, to a stored head. A line replaces an older one of the
 * same key. The head is published once it has `quorum` of them.
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
    const note = `${text}\n${own?.line}${[...byKey.values()].join("")}`;
    await updateHead(tx, { size, note, cosigned: byKey.size });
    if (byKey.size >= quorum) await publishHead(tx, size);
  });
}
