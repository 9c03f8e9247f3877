const DATE_TIME =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(0\d|1[0-3]|14(?=:00)):([0-5]\d))$/;

/**
 * Parses an XSD dateTimeStamp to ms since the epoch, truncated; null for any other text, including
 * one without a time zone or with an impossible date.
 */
export function parseDateTime(text: string): number | null {
  const match = DATE_TIME.exec(text);
  if (match === null) return null;
  const [, local, fraction = "", sign, hours, minutes] = match;
  const utc = `${local}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const ms = Date.parse(utc);
  // Some engines parse the 30th of February as the 2nd of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== utc) return null;
  if (sign === undefined) return ms;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === "+" ? ms - offset : ms + offset;
}

/**
 * Formats ms since the epoch as a dateTimeStamp in UTC. Throws RangeError outside the years 0 to
 * 9999.
 */
export function formatDateTime(ms: number): string {
  const text = new Date(ms).toISOString();
  if (text.length !== 24) throw new RangeError("ms must be a time from year 0 to 9999");
  return text;
}
