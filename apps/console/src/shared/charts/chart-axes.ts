const DAY_S = 86_400;

const two = (number: number) => String(number).padStart(2, "0");

/**
 * Formats a moment on the axis of times, in seconds: the time of day, or the date where a day begins on an axis of
 * several days, or where the moments are days apart.
 */
export function formatTick(
  seconds: number,
  { span, step }: { readonly span: number; readonly step: number },
): string {
  const date = new Date(seconds * 1_000);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step < DAY_S && (span <= DAY_S || clock !== "00:00")) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the ends of the axis of values: 0 is always on it, and so is what an account owes, which is below 0. */
export function getValueRange(min: number | null, max: number | null): [from: number, to: number] {
  return [Math.min(0, (min ?? 0) * 1.1), Math.max(1, (max ?? 0) * 1.1)];
}
