/** Shortens an untrusted text and removes control characters and direction marks, which could disguise it. */
export function shortenText(text: unknown, maxCharacters: number): string {
  if (typeof text !== "string") return "";
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, " ");
  return printable.slice(0, maxCharacters).toWellFormed();
}
