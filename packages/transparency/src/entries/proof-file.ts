import { fromBase64, toBase64, unlessMalformed } from "@agent/crypto";
import { parseDecimal, parseHash } from "../notes/checkpoint.ts";
import { decodeText, NOTE_LIMITS } from "../notes/note.ts";
import { MAX_PROOF_HASHES } from "../tree/verify-proof.ts";

/** The proof that an entry is in a log (C2SP tlog-proof). */
export interface ProofFile {
  /** The bytes of the entry; null if the file does not contain them. */
  readonly entry: Uint8Array | null;
  readonly index: number;
  readonly proof: readonly Uint8Array[];
  /** The checkpoint as it was signed; `openCheckpoint` verifies it. */
  readonly checkpoint: string;
}

/** The content of a proof file, or the refusal of a malformed text. */
export type ParseProofFileResult =
  | ({ readonly ok: true } & ProofFile)
  | { readonly ok: false; readonly code: "log.malformed" };

const FIRST_LINE = "c2sp.org/tlog-proof@v1";

/** The maximum length of a note, plus the first line, an entry, the index and the hashes. */
const MAX_BYTES = NOTE_LIMITS.maxBytes + 8_192;

/** Returns the text of a proof file. */
export function formatProofFile({ entry, index, proof, checkpoint }: ProofFile): string {
  const extra = entry === null ? [] : [`extra ${toBase64(entry)}`];
  const lines = [FIRST_LINE, ...extra, `index ${index}`, ...proof.map(toBase64)];
  return `${lines.join("\n")}\n\n${checkpoint}`;
}

/** Parses a proof file without verifying anything in it; any other form is refused with `log.malformed`. */
export function parseProofFile(input: string | Uint8Array): ParseProofFileResult {
  const malformed = { ok: false, code: "log.malformed" } as const;
  const text = decodeText(input, MAX_BYTES);
  const end = text?.indexOf("\n\n") ?? -1;
  if (text === undefined || end < 0) return malformed;
  const [first, ...lines] = text.slice(0, end).split("\n");
  const extra = lines[0]?.startsWith("extra ") === true ? lines.shift()?.slice(6) : undefined;
  const indexLine = lines.shift() ?? "";
  const entry = extra === undefined ? null : unlessMalformed(() => fromBase64(extra));
  const index = indexLine.startsWith("index ") ? parseDecimal(indexLine.slice(6)) : undefined;
  const proof = lines.map(parseHash);
  const isComplete =
    first === FIRST_LINE &&
    entry !== undefined &&
    index !== undefined &&
    proof.length <= MAX_PROOF_HASHES &&
    proof.every((hash) => hash !== undefined);
  return isComplete
    ? { ok: true, entry, index, proof, checkpoint: text.slice(end + 2) }
    : malformed;
}
