import {
  bytesToHex,
  bytesToUtf8,
  concatBytes,
  fromBase64,
  hexToBytes,
  toBase64,
  unlessMalformed,
  utf8ToBytes,
} from "@agent/crypto";
import { KEY_NAME, type VerifierKey } from "./verifier-key.ts";

/** The maximum length of a note in bytes, and its maximum number of signature lines. */
export const NOTE_LIMITS = { maxBytes: 65_536, maxSignatures: 64 } as const;

/** A signature line of a note; it names its key only by name and id. */
export interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
  /** The line itself, with its newline. */
  readonly line: string;
}

/** A text with signatures (C2SP signed-note). */
export interface Note {
  /** The signed text, with its final newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A note whose signatures are not verified, or the refusal of a malformed text. */
export type ParseNoteResult =
  | { readonly ok: true; readonly note: Note }
  | { readonly ok: false; readonly code: "log.malformed" };

/** All ASCII control characters except newline and U+007F. */
const CONTROL_CHARACTER = /(?!\n)[^\P{Cc}\x7f-\x9f]/u;

const MALFORMED = { ok: false, code: "log.malformed" } as const;

/**
 * Parses a signed note of at most 64 KiB with 1 to 64 signature lines, without verifying it. Input that is
 * not UTF-8, contains a control character other than newline or is not exactly in this format is refused
 * with `log.malformed`.
 */
export function parseNote(input: string | Uint8Array): ParseNoteResult {
  const whole = decodeText(input, NOTE_LIMITS.maxBytes);
  if (whole === undefined || !whole.endsWith("\n")) return MALFORMED;
  const blank = whole.lastIndexOf("\n\n");
  if (blank < 0) return MALFORMED;
  const lines = whole.slice(blank + 2, -1).split("\n");
  if (lines.length > NOTE_LIMITS.maxSignatures) return MALFORMED;
  const signatures = lines.map(parseSignatureLine);
  return signatures.every((each) => each !== undefined)
    ? { ok: true, note: { text: whole.slice(0, blank + 1), signatures } }
    : MALFORMED;
}

/** Returns a text without control characters other than newline; undefined for any other input. */
export function decodeText(input: string | Uint8Array, maxBytes: number): string | undefined {
  if (input.length > maxBytes) return undefined;
  const text = typeof input === "string" ? input : unlessMalformed(() => bytesToUtf8(input));
  const isPlain = text?.isWellFormed() === true && !CONTROL_CHARACTER.test(text);
  return isPlain && utf8ToBytes(text).length <= maxBytes ? text : undefined;
}

function parseSignatureLine(line: string): NoteSignature | undefined {
  const [, name = "", encoded = ""] = /^\u2014 ([^ ]+) ([^ ]+)$/u.exec(line) ?? [];
  const bytes = unlessMalformed(() => fromBase64(encoded));
  if (!KEY_NAME.test(name) || bytes === undefined || bytes.length <= 4) return undefined;
  return {
    name,
    keyId: bytesToHex(bytes.subarray(0, 4)),
    signature: bytes.slice(4),
    line: `${line}\n`,
  };
}

/** Returns the line of a signature, with its newline. */
export function formatSignatureLine(key: VerifierKey, signature: Uint8Array): string {
  return `\u2014 ${key.name} ${toBase64(concatBytes(hexToBytes(key.keyId), signature))}\n`;
}

/** Returns whether a signature names this key; keys of other names or types have other ids. */
export function isSignatureOf(signature: NoteSignature, key: VerifierKey): boolean {
  return signature.name === key.name && signature.keyId === key.keyId;
}
