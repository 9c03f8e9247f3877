import { equalBytes } from "@agent/crypto";
import { getEmptyRoot, HASH_BYTES, hashLeaf, hashNode } from "./hash.ts";

/** A tree of fewer than 2^53 leaves never needs more, and C2SP allows no more. */
export const MAX_PROOF_HASHES = 63;

/** Whether the tree has the leaf at that index, or the code of the refusal. */
export type InclusionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "log.index_out_of_range" | "log.inclusion_invalid" };

/** Whether the newer tree begins with the older one, or the code of the refusal. */
export type ConsistencyResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "log.shrunk" | "log.consistency_invalid" };

/** A claim of inclusion: the proof leads from a leaf to the root of the tree of `size` leaves. */
export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  /** The 32-byte hash of the leaf. Use `verifyEntryInclusion` for an entry. */
  readonly leaf: Uint8Array;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/**
 * Verifies an inclusion proof by computing the root (RFC 9162, section 2.1.3.2). Refuses with
 * `log.index_out_of_range` if the index is not below the size, else with `log.inclusion_invalid`.
 * Sizes and indexes are whole numbers below 2^53.
 */
export function verifyInclusion(claim: InclusionClaim): InclusionResult {
  const { index, size, leaf, proof, root } = claim;
  if (!isWhole(index) || !isWhole(size) || index >= size) {
    return { ok: false, code: "log.index_out_of_range" };
  }
  const invalid = { ok: false, code: "log.inclusion_invalid" } as const;
  if (!areHashes([leaf, root, ...proof]) || proof.length > MAX_PROOF_HASHES) return invalid;
  let node = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return invalid;
    if (node % 2 === 1 || node === last) {
      hash = hashNode(sibling, hash);
      // A node without a right sibling moves up unchanged.
      while (node % 2 === 0 && node > 0) [node, last] = [halve(node), halve(last)];
    } else {
      hash = hashNode(hash, sibling);
    }
    [node, last] = [halve(node), halve(last)];
  }
  return last === 0 && equalBytes(hash, root) ? { ok: true } : invalid;
}

/**
 * Verifies the inclusion of an entry. It hashes the entry itself, because otherwise the hash of an inner
 * node could be presented as that of a leaf.
 */
export function verifyEntryInclusion({
  entry,
  ...claim
}: Omit<InclusionClaim, "leaf"> & { readonly entry: Uint8Array }): InclusionResult {
  return verifyInclusion({ ...claim, leaf: hashLeaf(entry) });
}

/** Two heads of a log, and the proof that the older tree is a prefix of the newer one. */
export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly size: number;
  readonly oldRoot: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Verifies a consistency proof by computing both roots (RFC 9162, section 2.1.4.2). Refuses with
 * `log.shrunk` if the old size is above the new one, else with `log.consistency_invalid`. From size 0
 * and between equal sizes the proof must be empty.
 */
export function verifyConsistency(claim: ConsistencyClaim): ConsistencyResult {
  const { oldSize, size, oldRoot, root, proof } = claim;
  const invalid = { ok: false, code: "log.consistency_invalid" } as const;
  if (!isWhole(oldSize) || !isWhole(size)) return invalid;
  if (oldSize > size) return { ok: false, code: "log.shrunk" };
  if (!areHashes([oldRoot, root, ...proof]) || proof.length > MAX_PROOF_HASHES) return invalid;
  if (oldSize === 0 && !equalBytes(oldRoot, getEmptyRoot())) return invalid;
  if (oldSize === size || oldSize === 0) {
    const isSame = oldSize < size || equalBytes(oldRoot, root);
    return isSame && proof.length === 0 ? { ok: true } : invalid;
  }
  const roots = computeRoots(claim);
  return roots !== null && equalBytes(roots.oldRoot, oldRoot) && equalBytes(roots.root, root)
    ? { ok: true }
    : invalid;
}

/** Computes both roots for two different sizes above 0; null if the proof has the wrong length. */
function computeRoots({ oldSize, size, oldRoot, proof }: ConsistencyClaim) {
  let node = oldSize - 1;
  let last = size - 1;
  while (node % 2 === 1) [node, last] = [halve(node), halve(last)];
  // A perfect old tree is a node of the new one, so the proof does not repeat its root.
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof;
  if (first === undefined) return null;
  let [left, whole] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      left = hashNode(sibling, left);
      whole = hashNode(sibling, whole);
      while (node % 2 === 0 && node > 0) [node, last] = [halve(node), halve(last)];
    } else {
      whole = hashNode(whole, sibling);
    }
    [node, last] = [halve(node), halve(last)];
  }
  return last === 0 ? { oldRoot: left, root: whole } : null;
}

/** Bit shifts would truncate numbers to 32 bits. */
const halve = (value: number) => Math.floor(value / 2);

const isWhole = (value: number) => Number.isSafeInteger(value) && value >= 0;

const areHashes = (hashes: readonly Uint8Array[]) =>
  hashes.every((hash) => hash.length === HASH_BYTES);
