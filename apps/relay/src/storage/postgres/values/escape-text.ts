/** PostgreSQL refuses U+0000 in a text, so it is stored as two characters, and so is the first of them. */
const REPLACEMENTS = [
  ["\u0001", "\u00011"],
  ["\0", "\u00010"],
] as const;

/** Returns a text that PostgreSQL stores and that no other text is escaped to. */
export function escapeText(text: string): string {
  if (!text.includes("\0") && !text.includes("\u0001")) return text;
  return REPLACEMENTS.reduce((escaped, [from, to]) => escaped.replaceAll(from, to), text);
}

export function unescapeText(text: string): string {
  if (!text.includes("\u0001")) return text;
  return REPLACEMENTS.reduceRight((plain, [to, from]) => plain.replaceAll(from, to), text);
}
