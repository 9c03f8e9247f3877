import { limits } from "@agent/wire";

/**
 * Turns a search text into its distinct words in lower case, separated by blanks. Only the first 16
 * words count, because each is searched for in every text.
 */
export function parseSearchWords(text: string): string {
  const words = text.toLowerCase().split(/\s+/);
  const distinct = new Set(words.filter((word) => word !== ""));
  return [...distinct].slice(0, limits.searchedWords).join(" ");
}

/**
 * Ranks fields by a search text in the form of `parseSearchWords`: the number of fields that contain at
 * least one of the words, and 0 unless each word occurs in some field. Case is ignored in every
 * alphabet, unlike by SQLite's own `lower`.
 */
export function rankText(words: string, ...fields: readonly (string | null)[]): number {
  const texts = fields.map((field) => field?.toLowerCase() ?? "");
  const missing = new Set(words.split(" "));
  let rank = 0;
  for (const text of texts) {
    const found = words.split(" ").filter((word) => text.includes(word));
    if (found.length > 0) rank += 1;
    for (const word of found) missing.delete(word);
  }
  return missing.size === 0 ? rank : 0;
}
