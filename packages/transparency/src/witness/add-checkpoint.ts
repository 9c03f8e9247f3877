import { equalBytes, toBase64 } from "@agent/crypto";
import {
  formatCheckpointText,
  parseCheckpoint,
  parseDecimal,
  parseHash,
  type TreeHead,
} from "../notes/checkpoint.ts";
import { cosignHead, type WitnessSigner } from "../notes/cosignature.ts";
import { decodeText, isSignatureOf, type Note, NOTE_LIMITS } from "../notes/note.ts";
import { findLogSignatureFault } from "../notes/open-checkpoint.ts";
import type { VerifierKey } from "../notes/verifier-key.ts";
import { MAX_PROOF_HASHES, verifyConsistency } from "../tree/verify-proof.ts";

/** A request to cosign a checkpoint (C2SP tlog-witness). */
export interface AddCheckpoint {
  /** The size that the witness cosigned last, as far as the log knows. */
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  readonly head: TreeHead;
  readonly note: Note;
}

/** A request to cosign, or the HTTP status and the code of its refusal. */
export type ParseAddCheckpointResult =
  | { readonly ok: true; readonly request: AddCheckpoint }
  | { readonly ok: false; readonly status: 400; readonly code: "log.malformed" };

/** The maximum length of a request in bytes. */
export const MAX_ADD_CHECKPOINT_BYTES = NOTE_LIMITS.maxBytes + 16_384;

/** Returns the body of a request; the proof is empty from size 0 and between equal sizes. */
export function formatAddCheckpoint(
  oldSize: number,
  proof: readonly Uint8Array[],
  checkpoint: string,
): string {
  return `${[`old ${oldSize}`, ...proof.map(toBase64)].join("\n")}\n\n${checkpoint}`;
}

/** Parses the body of a request; any other form is refused with 400 `log.malformed`. */
export function parseAddCheckpoint(input: string | Uint8Array): ParseAddCheckpointResult {
  const malformed = { ok: false, status: 400, code: "log.malformed" } as const;
  const text = decodeText(input, MAX_ADD_CHECKPOINT_BYTES);
  const end = text?.indexOf("\n\n") ?? -1;
  if (text === undefined || end < 0) return malformed;
  const [first = "", ...lines] = text.slice(0, end).split("\n");
  const oldSize = first.startsWith("old ") ? parseDecimal(first.slice(4)) : undefined;
  const proof = lines.map(parseHash);
  const checkpoint = parseCheckpoint(text.slice(end + 2));
  if (oldSize === undefined || proof.length > MAX_PROOF_HASHES || !checkpoint.ok) return malformed;
  if (!proof.every((hash) => hash !== undefined)) return malformed;
  const { head, note } = checkpoint;
  return { ok: true, request: { oldSize, proof, head, note } };
}

/** The last head of a log that a witness cosigned; before the first one, size 0 and the empty root. */
export interface WitnessedHead {
  readonly logKey: VerifierKey;
  readonly size: number;
  readonly root: Uint8Array;
}

/**
 * The head that a witness must store before it answers, on condition that the stored size is still
 * `oldSize`.
 */
export interface NextHead extends TreeHead {
  readonly oldSize: number;
  /** The checkpoint with the lines of the log and of the witness. */
  readonly checkpoint: string;
}

/**
 * The answer of a witness. `evidence` is a checkpoint that the log signed but that does not fit the head
 * cosigned last; the witness should keep both. A different root for the same size proves that the log
 * forked, while a request with an invalid proof proves nothing, because a third party may have sent it.
 */
export type AddCheckpointAnswer =
  | { readonly status: 200; readonly body: string; readonly next: NextHead }
  | {
      readonly status: 409;
      readonly body: string;
      readonly contentType: "text/x.tlog.size";
      readonly evidence: string | null;
    }
  | {
      readonly status: 400 | 403 | 404;
      readonly code:
        | "log.shrunk"
        | "log.key_unknown"
        | "log.signature_invalid"
        | "log.origin_unknown";
    }
  | {
      readonly status: 422;
      readonly code: "log.consistency_invalid" | "log.equivocation";
      readonly evidence: string;
    };

/**
 * Answers a request to cosign, given what the witness knows of the origin. The checks, in order: unknown
 * origin (404), signature of the log (403), old size above the new one (400), old size other than the one
 * cosigned last (409 with that size), proof and roots (422; `log.equivocation` if one size has two roots).
 * On 200 the caller must store `next` in one conditional update before it answers. `time` is in POSIX
 * seconds.
 */
export function answerAddCheckpoint(
  { oldSize, proof, head, note }: AddCheckpoint,
  known: WitnessedHead | undefined,
  { witness, time }: { readonly witness: WitnessSigner; readonly time: number },
): AddCheckpointAnswer {
  if (known?.logKey.name !== head.origin) return { status: 404, code: "log.origin_unknown" };
  const fault = findLogSignatureFault(note, known.logKey);
  if (fault !== undefined) return { status: 403, code: fault };
  if (oldSize > head.size) return { status: 400, code: "log.shrunk" };
  const logLine = note.signatures.find((each) => isSignatureOf(each, known.logKey))?.line ?? "";
  const checkpoint = `${formatCheckpointText(head)}\n${logLine}`;
  const isFork = head.size === known.size && !equalBytes(head.root, known.root);
  if (oldSize !== known.size) {
    const body = `${known.size}\n`;
    const evidence = isFork ? checkpoint : null;
    return { status: 409, body, contentType: "text/x.tlog.size", evidence };
  }
  const { size, root } = head;
  if (!verifyConsistency({ oldSize, size, oldRoot: known.root, root, proof }).ok) {
    const code = isFork ? "log.equivocation" : "log.consistency_invalid";
    return { status: 422, code, evidence: checkpoint };
  }
  const line = cosignHead(head, witness, time);
  return { status: 200, body: line, next: { ...head, oldSize, checkpoint: checkpoint + line } };
}
