import type { Cell } from "./format-blocks.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats USD with two decimals, or as many as the amount has. */
export function formatMoney(amount: number): string {
  const exact = amount.toFixed(6).replace(/0{1,4}$/, "");
  return `${exact} USD`;
}

/** Formats a time in ms as ISO 8601 without fractions, UTC. */
export function formatTime(at: number | null | undefined): string {
  return at === null || at === undefined ? "-" : new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Formats a duration in ms by its two largest units; one that a changed clock made negative is 0. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "-";
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return joinUnits(ms, [MINUTE, "min"], [SECOND, "s"]);
  if (ms < DAY) return joinUnits(ms, [HOUR, "h"], [MINUTE, "min"]);
  return joinUnits(ms, [DAY, "d"], [HOUR, "h"]);
}

function joinUnits(ms: number, [large, name]: [number, string], [small, part]: [number, string]) {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${name}${rest === 0 ? "" : ` ${rest} ${part}`}`;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Parses a duration such as 90s, 15m, 2h or 1d, in ms; undefined for other texts, and without a unit. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS[unit] ?? 1);
}

/** Parses a time: ISO 8601, or how long ago; undefined for other texts. */
export function parseTime(text: string, now: number): number | undefined {
  const ago = parseDuration(text);
  if (ago !== undefined) return Math.max(0, now - ago);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** Parses an amount of money with at most six decimals; undefined for other texts. */
export function parseMoney(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
}

/** The rule of an amount in a sentence; the relay itself refuses those above its limit. */
export const MONEY_RULE =
  "must be USD from 0 to 1000000000, with a point and at most 6 decimals, such as 12.5";

/** Formats a share from 0 to 1 in percent; the product of the numbers has digits that no share has. */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(4))} %`;
}

/** Formats a count with its noun, such as "1 dispute" or "2 disputes". */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const BARS = "▁▂▃▄▅▆▇█";

/** Draws numbers as a line of bars; a missing one is a blank. */
export function formatSparkline(values: readonly (number | null)[]): string {
  const max = Math.max(0, ...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return " ";
      const level = max === 0 ? 0 : Math.round((value / max) * (BARS.length - 1));
      return BARS[level] ?? " ";
    })
    .join("");
}

const BAD_STATES = ["failed", "denied", "expired", "suspended", "removed", "revoked"];
const GOOD_STATES = ["completed", "active", "registered", "approved"];

/** A state with the colour of its kind. */
export function toStateCell(state: string): Cell {
  if (BAD_STATES.includes(state)) return { text: state, tone: "bad" };
  return GOOD_STATES.includes(state) ? { text: state, tone: "good" } : state;
}
