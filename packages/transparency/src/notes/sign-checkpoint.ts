import { getPublicKey, sign } from "@agent/crypto";
import { formatCheckpointText, type TreeHead } from "./checkpoint.ts";
import { formatSignatureLine } from "./note.ts";
import { buildVerifierKey, KEY_TYPES } from "./verifier-key.ts";

/**
 * Signs a head with the log's key and returns the checkpoint, to which the lines of witnesses can be
 * appended. `secretKey` is the 32-byte seed of the log's key, not of the relay's. Throws RangeError for an
 * origin that contains whitespace or a plus sign, a size that is not an integer below 2^53, and a root that
 * is not 32 bytes.
 */
export function signCheckpoint(head: TreeHead, secretKey: Uint8Array): string {
  if (!Number.isSafeInteger(head.size) || head.size < 0 || head.root.length !== 32) {
    throw new RangeError("a head must have a whole size and a root of 32 bytes");
  }
  const key = buildVerifierKey(head.origin, KEY_TYPES.log, getPublicKey(secretKey));
  const text = formatCheckpointText(head);
  return `${text}\n${formatSignatureLine(key, sign(text, secretKey))}`;
}
