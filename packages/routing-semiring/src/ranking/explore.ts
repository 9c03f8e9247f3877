import type { Weights } from "../weights.ts";

/** The share of the weights of trust and success that full exploration moves. */
const MAX_SHIFT = 0.5;

/**
 * Shifts the weights by an exploration drive (0..1): at 1, half the weight of trust and success rate moves
 * in equal parts to availability and capability match. The sum stays the same.
 */
export function shiftWeights(weights: Weights, drive: number): Weights {
  const keptShare = 1 - MAX_SHIFT * drive;
  const movedShare = (1 - keptShare) * (weights.trust + weights.success_rate);
  return {
    ...weights,
    trust: weights.trust * keptShare,
    success_rate: weights.success_rate * keptShare,
    capability_match: weights.capability_match + movedShare / 2,
    availability: weights.availability + movedShare / 2,
  };
}

/**
 * Draws a number in 0..1 (1 excluded) that is determined by a seed (0..2^32 - 1) and a name: uniform,
 * repeatable and independent of other draws. It is not secret, because the seed determines it.
 *
 * FNV-1a over the name, started from the seed and finished by the mixer of MurmurHash3.
 */
export function drawRandom(seed: number, name: string): number {
  let hash = mixHash(seed ^ 0x811c9dc5);
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return (mixHash(hash) >>> 0) / 2 ** 32;
}

function mixHash(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Returns whether this decision explores, with the probability of the drive and never at 0. */
export function shouldExplore(seed: number, drive: number): boolean {
  return drawRandom(seed, "") < drive;
}
