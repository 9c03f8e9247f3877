import { equalBytes, fromBase64, toBase64, unlessMalformed } from "@agent/crypto";
import { getEmptyRoot, HASH_BYTES } from "../tree/hash.ts";
import { type Note, parseNote } from "./note.ts";

/** The state of a log: its root over its first `size` entries. */
export interface TreeHead {
  readonly origin: string;
  /** A whole number below 2^53. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** The head in a checkpoint whose signatures are not verified, or the refusal of a malformed text. */
export type ParseCheckpointResult =
  | { readonly ok: true; readonly head: TreeHead; readonly note: Note }
  | { readonly ok: false; readonly code: "log.malformed" };

/**
 * Returns the text of a head that is signed: origin, size and root in three lines (C2SP tlog-checkpoint).
 * All signatures of a checkpoint are over this text.
 */
export function formatCheckpointText({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/**
 * Parses a checkpoint without verifying it. Extension lines and any other form are refused with
 * `log.malformed`.
 */
export function parseCheckpoint(input: string | Uint8Array): ParseCheckpointResult {
  const parsed = parseNote(input);
  if (!parsed.ok) return parsed;
  const [origin = "", sizeText = "", rootText = "", end, ...more] = parsed.note.text.split("\n");
  const size = parseDecimal(sizeText);
  const root = parseHash(rootText);
  const isComplete = origin !== "" && end === "" && more.length === 0;
  return isComplete && size !== undefined && root !== undefined
    ? { ok: true, head: { origin, size, root }, note: parsed.note }
    : { ok: false, code: "log.malformed" };
}

/** Returns whether a head claims to be of the empty tree but has another root. */
export function isFalselyEmpty({ size, root }: TreeHead): boolean {
  return size === 0 && !equalBytes(root, getEmptyRoot());
}

/** Parses a plain decimal below 2^53, without leading zeros. */
export function parseDecimal(text: string): number | undefined {
  const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Parses the base64 of a 32-byte hash. */
export function parseHash(text: string): Uint8Array | undefined {
  const bytes = unlessMalformed(() => fromBase64(text));
  return bytes?.length === HASH_BYTES ? bytes : undefined;
}
