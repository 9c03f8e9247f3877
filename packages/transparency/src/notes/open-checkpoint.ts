import { bytesToHex, verify } from "@agent/crypto";
import { isFalselyEmpty, parseCheckpoint, type TreeHead } from "./checkpoint.ts";
import { readCosignatureTime } from "./cosignature.ts";
import { isSignatureOf, type Note } from "./note.ts";
import { KEY_TYPES, type VerifierKey } from "./verifier-key.ts";

/** The keys that a reader trusts. */
export interface TrustedKeys {
  /** The key of the log; its name is the origin of the log. */
  readonly logKey: VerifierKey;
  /** The witnesses whose cosignatures count. */
  readonly witnesses?: readonly VerifierKey[];
  /** The number of witnesses that must have cosigned; 0 by default. */
  readonly quorum?: number;
}

/** A cosignature of a trusted witness. */
export interface Cosignature {
  readonly witness: VerifierKey;
  /** In POSIX seconds, by the clock of the witness. */
  readonly time: number;
}

/** The codes with which a checkpoint is refused, in the order of the checks. */
export type CheckpointRefusal =
  | "log.malformed"
  | "log.wrong_origin"
  | "log.key_unknown"
  | "log.signature_invalid"
  | "log.cosignature_invalid"
  | "log.quorum_missing";

/** The head of a checkpoint that the log's key signed, or the code of its refusal. */
export type OpenCheckpointResult =
  | {
      readonly ok: true;
      readonly head: TreeHead;
      /** The newest cosignature of each trusted witness; one key under two names is one witness. */
      readonly cosignatures: readonly Cosignature[];
    }
  | { readonly ok: false; readonly code: CheckpointRefusal };

/**
 * Verifies a checkpoint with the keys of its log and of the witnesses that the reader trusts. The checks
 * run in the order of CheckpointRefusal up to the first refusal. Every line of a trusted key must be valid;
 * lines of other keys are ignored.
 */
export function openCheckpoint(
  input: string | Uint8Array,
  { logKey, witnesses = [], quorum = 0 }: TrustedKeys,
): OpenCheckpointResult {
  const parsed = parseCheckpoint(input);
  if (!parsed.ok) return parsed;
  const { head, note } = parsed;
  if (isFalselyEmpty(head)) return { ok: false, code: "log.malformed" };
  if (head.origin !== logKey.name) return { ok: false, code: "log.wrong_origin" };
  const refusal = findLogSignatureFault(note, logKey);
  if (refusal !== undefined) return { ok: false, code: refusal };
  const newest = new Map<string, Cosignature>();
  for (const witness of witnesses.filter(({ type }) => type === KEY_TYPES.witness)) {
    for (const line of note.signatures.filter((each) => isSignatureOf(each, witness))) {
      const time = readCosignatureTime(line.signature, note.text, witness);
      if (time === undefined) return { ok: false, code: "log.cosignature_invalid" };
      const key = bytesToHex(witness.publicKey);
      if (time > (newest.get(key)?.time ?? 0)) newest.set(key, { witness, time });
    }
  }
  return newest.size >= quorum
    ? { ok: true, head, cosignatures: [...newest.values()] }
    : { ok: false, code: "log.quorum_missing" };
}

/**
 * Returns why a log's signature of a note is missing or invalid; a single invalid line of its key suffices.
 */
export function findLogSignatureFault(
  { text, signatures }: Note,
  logKey: VerifierKey,
): "log.key_unknown" | "log.signature_invalid" | undefined {
  const lines = signatures.filter((each) => isSignatureOf(each, logKey));
  if (logKey.type !== KEY_TYPES.log || lines.length === 0) return "log.key_unknown";
  return lines.every(({ signature }) => verify(signature, text, logKey.publicKey))
    ? undefined
    : "log.signature_invalid";
}
