export type EmbedAnswer =
  /** One vector of length 1 (or 0) for each text, in the same order and of the same dimension. */
  | { readonly ok: true; readonly vectors: readonly Float32Array[] }
  | { readonly ok: false; readonly code: "memory.not_embedded"; readonly detail: string };

/** Turns texts into vectors whose angle measures how similar the texts are. */
export interface Embedder {
  /** Identifies the embedding; it changes whenever older vectors are no longer comparable. */
  readonly id: string;
  /** The lowest cosine of two related texts. */
  readonly relatedThreshold: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<EmbedAnswer>;
}

/** Scales a vector to length 1; a zero vector is returned unchanged. */
export function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(calculateDotProduct(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/**
 * Calculates the cosine of vectors of length 1, within -1 and 1; 0 for vectors of different
 * dimensions.
 */
export function calculateCosine(a: Float32Array, b: Float32Array): number {
  return a.length === b.length ? Math.max(-1, Math.min(1, calculateDotProduct(a, b))) : 0;
}

function calculateDotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
