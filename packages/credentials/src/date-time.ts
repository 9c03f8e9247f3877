const DATE_TIME =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(0\d|1[0-3]|14(?=:00)):([0-5]\d))$/;

/**
 * The ms since the epoch of an XSD dateTimeStamp, cut off below the millisecond; null for any other
 * text, one without a time zone and one that names no day of the calendar included.
 */
export function parseDateTime(text: string): number | null {
  const match = DATE_TIME.exec(text);
  if (match === null) return null;
  const [, local, fraction = "", sign, hours, minutes] = match;
  const utc = `${local}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const ms = Date.parse(utc);
  // Some engines take the 30th of February for the 2nd of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== utc) return null;
  if (sign === undefined) return ms;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === "+" ? ms - offset : ms + offset;
}

/** The dateTimeStamp in UTC of ms since the epoch; throws RangeError outside the years 0 to 9999. */
export function formatDateTime(ms: number): string {
  const text = new Date(ms).toISOString();
  if (text.length !== 24) throw new RangeError("a date has a year of four digits");
  return text;
}
