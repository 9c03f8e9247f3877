import { normalize, type Embedder } from "./embedder.ts";

const DIMENSIONS = 512;
/** Words of this length and longer have full weight; shorter ones are mostly grammar. */
const FULL_WORD_LENGTH = 6;
const GRAM_LENGTH = 3;

/**
 * Embeds texts without a model or a network: words and their trigrams are hashed into a fixed
 * number of dimensions. It detects common words and word forms, not synonyms.
 */
export const hashedNgramEmbedder: Embedder = {
  id: "hashed-ngrams-1",
  relatedThreshold: 0.25,
  async embed(texts) {
    return { ok: true, vectors: texts.map(embedText) };
  },
};

function embedText(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const [feature, weight] of extractFeatures(text)) {
    const hash = fnv1a(feature);
    const at = hash % DIMENSIONS;
    // Half of the features are subtracted, so that collisions cancel out instead of adding up.
    vector[at] = (vector[at] ?? 0) + (hash & 0x80000000 ? -weight : weight);
  }
  return normalize(vector);
}

function extractFeatures(text: string): Map<string, number> {
  const features = new Map<string, number>();
  const add = (feature: string, weight: number) =>
    features.set(feature, (features.get(feature) ?? 0) + weight);

  const plain = text.normalize("NFKC").toLowerCase();
  // Han text has no spaces between words, so each character counts as a word.
  const words = plain.match(/\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu) ?? [plain.trim()];
  for (const word of words) {
    const characters = Array.from(word);
    const weight = Math.min(1, characters.length / FULL_WORD_LENGTH);
    add(word, weight);
    const padded = ["^", ...characters, "$"];
    const share = (weight * 0.5) / Math.sqrt(padded.length);
    for (let start = 0; start + GRAM_LENGTH <= padded.length; start++) {
      add(padded.slice(start, start + GRAM_LENGTH).join(""), share);
    }
  }
  // The logarithm lets repetitions of a word count less than its first mention.
  return new Map([...features].map(([feature, weight]) => [feature, Math.log1p(weight)]));
}

/** Hashes UTF-16 code units with FNV-1a to unsigned 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
