/** The number of agents that offer each capability. */
export type OfferCounts = ReadonlyMap<string, number>;

/**
 * Suggests the capability that was probably meant: one with more than `own` agents that differs only in
 * case and punctuation, or by one letter.
 */
export function suggestCapability(
  capability: string,
  own: number,
  offers: OfferCounts,
): string | undefined {
  const plain = normalizeCapability(capability);
  let best: string | undefined;
  let maxCount = own;
  for (const [other, count] of offers) {
    if (other === capability || count <= maxCount) continue;
    const otherPlain = normalizeCapability(other);
    if (plain !== otherPlain && !differsByOneLetter(plain, otherPlain)) continue;
    [best, maxCount] = [other, count];
  }
  return best;
}

const normalizeCapability = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Short words that differ by a letter are usually different words. */
const MIN_LENGTH = 5;

/** Whether two words differ by one inserted, deleted or replaced letter. */
function differsByOneLetter(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < MIN_LENGTH || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const from = short.length === long.length ? at + 1 : at;
  return short.slice(from) === long.slice(at + 1);
}
