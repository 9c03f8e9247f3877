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
    const [own, ...older] = signatures.map(({ line }) => line);
    const kept = older.filter(
      (line) => !lines.some((each) => getKeyPart(each) === getKeyPart(line)),
    );
    const cosignatures = [...kept, ...lines];
    const note = `${text}\n${own}${cosignatures.join("")}`;
    await updateHead(tx, { size, note, cosigned: cosignatures.length });
    if (cosignatures.length >= quorum) await publishHead(tx, size);
  });
}

/** The name of a line's key and its id, which the first 4 bytes of the signature contain. */
function getKeyPart(line: string): string {
  const [, name = "", encoded = ""] = line.trimEnd().split(" ");
  return `${name} ${Buffer.from(encoded, "base64").subarray(0, 4).toString("hex")}`;
}
