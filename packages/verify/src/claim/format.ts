/** The maximum number of characters shown of a text from an artifact. */
const MAX_PRINTED_LENGTH = 100;

/**
 * Formats a text from an artifact for use in a sentence: it is quoted unless it is a plain identifier, and
 * everything but printable ASCII is escaped, so that a signer cannot add a second sentence or move the
 * cursor.
 */
export function toPrintable(text: unknown): string {
  if (typeof text !== "string") return "?";
  const shown = text.length > MAX_PRINTED_LENGTH ? `${text.slice(0, MAX_PRINTED_LENGTH)}...` : text;
  if (/^[\w.:/#+=-]+$/.test(shown)) return shown;
  return JSON.stringify(shown).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Formats a time in ms as ISO 8601, or as the number itself beyond the calendar's range. */
export function formatTime(ms: unknown): string {
  if (typeof ms !== "number") return "?";
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

/** Formats the sum of amounts in US dollars, exact to the millionth. */
export function formatDollars(...amounts: readonly number[]): string {
  const micro = amounts.reduce((sum, amount) => sum + Math.round(amount * 1e6), 0);
  return `${(micro / 1e6).toFixed(6).replace(/0{1,4}$/, "")} USD`;
}

/** Formats a number of things, of which one has another word than several. */
export function formatCount(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
