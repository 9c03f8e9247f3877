/**
 * Returns whether an origin belongs to a later generation of a log, which begins when its database was
 * restored or its operator restarted it. The origin of a generation is that of the first one, a slash and
 * an increasing number.
 */
export function isLaterGeneration(before: string, origin: string): boolean {
  const [, base = "", number = ""] = /^(.*)\/(\d{1,15})$/u.exec(origin) ?? [];
  if (base === before) return true;
  const [, baseBefore, numberBefore] = /^(.*)\/(\d{1,15})$/u.exec(before) ?? [];
  return base === baseBefore && Number(number) > Number(numberBefore);
}
