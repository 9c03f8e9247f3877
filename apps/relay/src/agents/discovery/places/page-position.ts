import { NEWCOMERS } from "./place.ts";

/** Sorts after every place, and begins the cursors of remote agents, which follow all local ones. */
export const PAST_ALL = "~";

/** The places behind `start` and before `end`. */
export interface RangeQuery {
  readonly start: string;
  readonly end: string;
}

/** Each page takes agents from both ranges. */
export const PLACE_RANGES = {
  withFees: { start: "", end: NEWCOMERS },
  newcomers: { start: NEWCOMERS, end: PAST_ALL },
} satisfies Record<string, RangeQuery>;

/** Where a page begins in each range; undefined behind its end. */
export interface PagePosition {
  readonly withFees: string | undefined;
  readonly newcomers: string | undefined;
}

const SEPARATOR = "|";
const ENDED = ".";

/** Parses a cursor key of `formatPosition`; those of remote agents follow after both ranges. */
export function parsePosition(key: string): PagePosition {
  if (key.startsWith(PAST_ALL)) return { withFees: undefined, newcomers: undefined };
  const [withFees = "", newcomers] = key.split(SEPARATOR);
  // The first page; a cursor of an earlier version, which names one agent only, begins again.
  if (newcomers === undefined) return { withFees: "", newcomers: "" };
  const parse = (text: string) => (text === ENDED ? undefined : text);
  return { withFees: parse(withFees), newcomers: parse(newcomers) };
}

/** Returns undefined behind the end of both ranges. */
export function formatPosition({ withFees, newcomers }: PagePosition): string | undefined {
  if (withFees === undefined && newcomers === undefined) return undefined;
  return `${withFees ?? ENDED}${SEPARATOR}${newcomers ?? ENDED}`;
}
