import { concatBytes, getPublicKey, sign, verify } from "@agent/crypto";
import { formatCheckpointText, type TreeHead } from "./checkpoint.ts";
import { formatSignatureLine } from "./note.ts";
import { buildVerifierKey, KEY_TYPES, type VerifierKey } from "./verifier-key.ts";

const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;

/** A witness with the key that it signs with. */
export interface WitnessSigner {
  readonly name: string;
  /** The 32-byte seed. */
  readonly secretKey: Uint8Array;
}

/**
 * Cosigns a head at a time in POSIX seconds and returns the line for the note, with its newline (C2SP
 * tlog-cosignature). Throws RangeError unless the time is a whole number from 1 to below 2^53.
 */
export function cosignHead(
  head: TreeHead,
  { name, secretKey }: WitnessSigner,
  time: number,
): string {
  if (!Number.isSafeInteger(time) || time < 1) {
    throw new RangeError("the time must be whole seconds from 1 to below 2^53");
  }
  const key = buildVerifierKey(name, KEY_TYPES.witness, getPublicKey(secretKey));
  const signature = sign(buildMessage(formatCheckpointText(head), time), secretKey);
  const timeBytes = new Uint8Array(TIME_BYTES);
  new DataView(timeBytes.buffer).setBigUint64(0, BigInt(time));
  return formatSignatureLine(key, concatBytes(timeBytes, signature));
}

/** Verifies a cosignature over a note's text and returns its time; undefined if it is invalid. */
export function readCosignatureTime(
  bytes: Uint8Array,
  text: string,
  witness: VerifierKey,
): number | undefined {
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  if (time === 0 || !Number.isSafeInteger(time)) return undefined;
  const signature = bytes.subarray(TIME_BYTES);
  return verify(signature, buildMessage(text, time), witness.publicKey) ? time : undefined;
}

const buildMessage = (text: string, time: number) => `cosignature/v1\ntime ${time}\n${text}`;
