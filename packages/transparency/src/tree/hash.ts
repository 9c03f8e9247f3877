import { hexToBytes, sha256 } from "@agent/crypto";

/** The length of a hash in bytes. */
export const HASH_BYTES = 32;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** Reused for each hash, because a new array of this length costs more than the hash. */
const LEAF_BYTES = new Uint8Array(256);
const NODE_BYTES = new Uint8Array(1 + 2 * HASH_BYTES);

/** Returns the root of the empty tree: the SHA-256 of the empty string (RFC 6962, section 2.1). */
export function getEmptyRoot(): Uint8Array {
  return hexToBytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/** Returns the hash of a leaf: SHA-256 over the byte 0x00 and the entry (RFC 6962, section 2.1). */
export function hashLeaf(entry: Uint8Array): Uint8Array {
  const length = 1 + entry.length;
  const bytes =
    length <= LEAF_BYTES.length ? LEAF_BYTES.subarray(0, length) : new Uint8Array(length);
  bytes[0] = LEAF_PREFIX;
  bytes.set(entry, 1);
  return sha256(bytes);
}

/**
 * Returns the hash of a node: SHA-256 over the byte 0x01 and both child hashes (RFC 6962, section 2.1).
 * Throws RangeError for hashes that are not 32 bytes.
 */
export function hashNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) {
    throw new RangeError(`a hash must have ${HASH_BYTES} bytes`);
  }
  NODE_BYTES[0] = NODE_PREFIX;
  NODE_BYTES.set(left, 1);
  NODE_BYTES.set(right, 1 + HASH_BYTES);
  return sha256(NODE_BYTES);
}

/**
 * Returns the root of the `count` hashes of a tile that begin at index `first`; `count` must be a power of
 * two.
 */
export function hashSubtree(hashes: Uint8Array, first: number, count: number): Uint8Array {
  if (count === 1) return hashes.slice(first * HASH_BYTES, (first + 1) * HASH_BYTES);
  const half = count / 2;
  return hashNode(hashSubtree(hashes, first, half), hashSubtree(hashes, first + half, half));
}
