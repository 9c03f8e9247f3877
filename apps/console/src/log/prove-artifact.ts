import {
  canonicalize,
  isJsonObject,
  readJsonText,
  sha256Hex,
  unlessMalformed,
  HEX_OF_32_BYTES,
} from "@agent/crypto";
import {
  type LogEntry,
  openCheckpoint,
  parseLogEntry,
  parseProofFile,
  verifyEntryInclusion,
  type VerifierKey,
} from "@agent/transparency";
import { describeTextFault } from "../shared/format/describe-text-fault.ts";
import { fetchBytes } from "./fetch-bytes.ts";

export type ProveArtifactResult =
  | {
      readonly ok: true;
      readonly index: number;
      readonly size: number;
      readonly entry: LogEntry;
    }
  | { readonly ok: false; readonly reason: string };

type ListHashesResult =
  | { readonly ok: true; readonly hashes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const refuse = (reason: string) => ({ ok: false, reason }) as const;

/**
 * Asks the relay for the proof that an artifact is in its log, and verifies it here. `text` is the JSON of
 * the artifact or its hash, 64 hex digits.
 */
export async function proveArtifact(
  text: string,
  logKey: VerifierKey,
): Promise<ProveArtifactResult> {
  const listed = listHashes(text.trim());
  if (!listed.ok) return listed;
  try {
    for (const hash of listed.hashes) {
      const { status, bytes } = await fetchBytes(`log/v1/proof?artifact=${hash}`);
      if (status === 409) return refuse("No head covers it yet. Try again in a second.");
      if (status === 429) return refuse("Too many requests. Try again in a minute.");
      if (bytes !== undefined) return verifyProof(bytes, hash, logKey);
      if (status !== 404) return refuse("The relay does not answer.");
    }
    return refuse("It is not in this log.");
  } catch {
    return refuse("The relay does not answer.");
  }
}

/** A record that a relay signs each time it is read is logged without its signature. */
function listHashes(text: string): ListHashesResult {
  if (HEX_OF_32_BYTES.test(text)) return { ok: true, hashes: [text] };
  const read = readJsonText(text);
  if ("fault" in read && read.fault.isJson) return refuse(describeTextFault(read.fault));
  if ("fault" in read || !isJsonObject(read.value)) {
    return refuse("This is neither a JSON object nor 64 hex digits.");
  }
  const { signature, ...unsigned } = read.value;
  const artifacts = signature === undefined ? [read.value] : [read.value, unsigned];
  const hashes = unlessMalformed(() => artifacts.map((each) => sha256Hex(canonicalize(each))));
  return hashes === undefined
    ? refuse("It has no canonical JSON, so no log holds it.")
    : { ok: true, hashes };
}

function verifyProof(bytes: Uint8Array, hash: string, logKey: VerifierKey): ProveArtifactResult {
  const file = parseProofFile(new TextDecoder().decode(bytes));
  if (!file.ok) return refuse(`The proof is refused: ${file.code}`);
  const opened = openCheckpoint(file.checkpoint, { logKey });
  if (!opened.ok) return refuse(`The proof is refused: ${opened.code}`);
  const entry = file.entry ?? new Uint8Array();
  const parsed = parseLogEntry(entry);
  if (!parsed.ok || parsed.entry.artifactHash !== hash) {
    return refuse("The proof is refused: log.entry_mismatch");
  }
  const { index, proof } = file;
  const included = verifyEntryInclusion({ ...opened.head, entry, index, proof });
  if (!included.ok) return refuse(`The proof is refused: ${included.code}`);
  return { ok: true, index, size: opened.head.size, entry: parsed.entry };
}
