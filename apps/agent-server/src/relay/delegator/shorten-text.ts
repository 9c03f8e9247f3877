/**
 * Shortens a text of another party and removes its control characters and direction marks, which
 * could make it look like something else.
 */
export function shortenText(text: unknown, maxCharacters: number): string {
  if (typeof text !== "string") return "";
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, " ");
  return printable.slice(0, maxCharacters).toWellFormed();
}
