import {
  bytesToHex,
  concatBytes,
  fromBase64,
  sha256,
  toBase64,
  unlessMalformed,
  utf8ToBytes,
} from "@agent/crypto";

/** The types of keys of C2SP signed-note that are used here. */
export const KEY_TYPES = { log: 1, witness: 4 } as const;

/** A key that signs notes: the key of a log signs checkpoints, that of a witness cosigns them. */
export interface VerifierKey {
  /** A log's origin or the name of a witness, without whitespace or plus signs. */
  readonly name: string;
  readonly type: (typeof KEY_TYPES)[keyof typeof KEY_TYPES];
  /** 8 hex digits derived from name, type and key. */
  readonly keyId: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A verifier key, or the refusal of a malformed text. */
export type ParseVerifierKeyResult =
  | { readonly ok: true; readonly key: VerifierKey }
  | { readonly ok: false; readonly code: "log.malformed" };

/** Unicode whitespace and plus signs would make a line of a note ambiguous. */
export const KEY_NAME = /^[^\s\u0085+]+$/u;

/** Builds a verifier key; throws RangeError for a name that no note can contain. */
export function buildVerifierKey(
  name: string,
  type: VerifierKey["type"],
  publicKey: Uint8Array,
): VerifierKey {
  if (!KEY_NAME.test(name)) throw new RangeError("a key name must have neither blanks nor a plus");
  const hash = sha256(concatBytes(utf8ToBytes(name), Uint8Array.of(NEWLINE, type), publicKey));
  return { name, type, keyId: bytesToHex(hash.subarray(0, 4)), publicKey };
}

const NEWLINE = 0x0a;

/**
 * Parses a verifier key, `<name>+<key id>+<base64 of type and key>` (C2SP signed-note). Refused with
 * `log.malformed`: any other form, a key id that does not match the key, a type other than those of logs
 * and witnesses, and a type other than `wantedType` if that is given.
 */
export function parseVerifierKey(
  text: string,
  wantedType?: VerifierKey["type"],
): ParseVerifierKeyResult {
  const [name = "", keyId, encoded] = splitKey(text);
  const bytes = unlessMalformed(() => fromBase64(encoded ?? ""));
  const type = Object.values(KEY_TYPES).find((each) => each === bytes?.[0]);
  const isComplete = KEY_NAME.test(name) && name.isWellFormed() && bytes?.length === 33;
  const isWanted = type !== undefined && type === (wantedType ?? type);
  if (!isComplete || !isWanted) return { ok: false, code: "log.malformed" };
  const key = buildVerifierKey(name, type, bytes.slice(1));
  return key.keyId === keyId ? { ok: true, key } : { ok: false, code: "log.malformed" };
}

/** Base64 may contain plus signs, so only the first two separate the parts. */
function splitKey(text: string): string[] {
  const match = /^([^+]*)\+([^+]*)\+(.*)$/su.exec(text);
  return match === null ? [] : match.slice(1);
}

/** Formats a key as the text that `parseVerifierKey` parses. */
export function formatVerifierKey({ name, type, keyId, publicKey }: VerifierKey): string {
  return `${name}+${keyId}+${toBase64(concatBytes(Uint8Array.of(type), publicKey))}`;
}
