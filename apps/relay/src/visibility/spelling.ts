/** How many agents offer each capability. */
export type Offers = ReadonlyMap<string, number>;

/**
 * The capability that was probably meant: one that more agents offer than the `own` number of it, and that
 * differs only in case and signs, or by one letter.
 */
export function likelyMeant(capability: string, own: number, offers: Offers): string | undefined {
  const plain = plainOf(capability);
  let best: string | undefined;
  let most = own;
  for (const [other, count] of offers) {
    if (other === capability || count <= most) continue;
    const otherPlain = plainOf(other);
    if (plain !== otherPlain && !differByOne(plain, otherPlain)) continue;
    [best, most] = [other, count];
  }
  return best;
}

const plainOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Short words that differ by a letter are other words. */
const shortest = 5;

/** Whether one letter was left out, put in or replaced. */
function differByOne(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < shortest || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const from = short.length === long.length ? at + 1 : at;
  return short.slice(from) === long.slice(at + 1);
}
