import type { LogEntry } from "@agent/transparency";

/** Returns the kind of an entry in words; a later version may have kinds that are unknown here. */
export const formatKind = ({ kind, kindNumber }: LogEntry): string =>
  kind === null ? `kind ${kindNumber}` : kind.replaceAll("_", " ");

export function formatTime({ time }: LogEntry): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? `${time} ms` : date.toISOString();
}
