/** The terms of a text, which are its words without common ones, counted by stem. */
export interface TermReport {
  readonly words: number;
  readonly terms: number;
  /** The most frequent terms first; equally frequent ones in alphabetical order. */
  readonly top: readonly (readonly [term: string, count: number])[];
}

const TOP_LENGTH = 20;

const stopWords = new Set(
  (
    "about after all also and any are because been before but can does each every for from has " +
    "have her his how into its like may more most must not one only other our out over own same " +
    "she should some such than that the their them then there these they this those through too " +
    "under use used uses using very was what when where which while who why will with without " +
    "would you your"
  ).split(" "),
);

/** Extracts the words of at least three letters in reading order and lower case, without common ones. */
export function extractWords(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.filter((word) => !stopWords.has(word));
}

/** Returns each word once, sorted by code units. */
export function buildVocabulary(words: readonly string[]): string[] {
  return [...new Set(words)].toSorted();
}

/** Only the first matching rule applies. */
const pluralRules: readonly (readonly [ending: RegExp, singular: string])[] = [
  [/([^ae])ies$/, "$1y"],
  [/(ss|sh|x)es$/, "$1"],
  [/([^isu])s$/, "$1"],
];

/** Returns a plural's singular, determined by its ending; short words stay unchanged. */
export function stemWord(word: string): string {
  if (word.length < 5) return word;
  const [ending, singular] = pluralRules.find(([rule]) => rule.test(word)) ?? [];
  return ending === undefined || singular === undefined ? word : word.replace(ending, singular);
}

/** Counts the words by stem; `stems` contains the stem of each word of `vocabulary`, in the same order. */
export function buildTermReport(
  words: readonly string[],
  vocabulary: readonly string[],
  stems: readonly string[],
): TermReport {
  const stemOf = new Map(vocabulary.map((word, index) => [word, stems[index] ?? word]));
  const counts = new Map<string, number>();
  for (const word of words) {
    const term = stemOf.get(word) ?? word;
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const ranked = [...counts].toSorted(
    ([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1),
  );
  return { words: words.length, terms: counts.size, top: ranked.slice(0, TOP_LENGTH) };
}
