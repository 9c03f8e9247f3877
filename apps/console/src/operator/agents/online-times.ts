import { showDuration, showPercent } from "../../shared/format/show-amount.ts";

/** A span of time, in ms. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

/** The periods between two times in which an agent was online, and those in which its relay took samples. */
export interface OnlineTimes {
  readonly from: number;
  readonly to: number;
  readonly spans: readonly TimeSpan[];
  readonly watched: readonly TimeSpan[];
}

/** The relay takes one sample a minute, so the last minute is always missing. */
const NEARLY_ALL_MS = 300_000;

/** Returns the part of the times that begins at `from`. */
export function cutTimes(times: OnlineTimes, from: number): OnlineTimes {
  const cut = (spans: readonly TimeSpan[]) =>
    spans
      .filter(({ until }) => until > from)
      .map((span) => ({ from: Math.max(from, span.from), until: span.until }));
  return { from, to: times.to, spans: cut(times.spans), watched: cut(times.watched) };
}

const sumSpans = (spans: readonly TimeSpan[]) =>
  spans.reduce((sum, { from, until }) => sum + until - from, 0);

/** Describes for what share of the time the agent was online; `period` names the time, such as `24 hours`. */
export function describeTimes({ from, to, spans, watched }: OnlineTimes, period: string): string {
  const looked = sumSpans(watched);
  if (looked === 0) return `The relay has not checked in the last ${period}.`;
  const share = showPercent(Math.min(1, sumSpans(spans) / looked));
  return to - from - looked < NEARLY_ALL_MS
    ? `Online for ${share} of the last ${period}.`
    : `Online for ${share} of the ${showDuration(looked)} that the relay checked in the last ${period}.`;
}

/** Returns the position of a span on a line of the given length, wide enough to be visible. */
export function placeSpan(
  { from, until }: TimeSpan,
  times: Pick<OnlineTimes, "from" | "to">,
  length: number,
): { readonly x: number; readonly width: number } {
  const scale = length / (times.to - times.from);
  const width = Math.max(1, (until - from) * scale);
  return { x: Math.min((from - times.from) * scale, length - width), width };
}
