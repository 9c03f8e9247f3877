import { asMicro, MICRO, type Micro } from "./money.ts";
import type { AmountCode } from "./refusals.ts";

/** The greatest single amount that is taken in: 1e9 currency units. */
export const MAX_AMOUNT: Micro = asMicro(1e9 * MICRO);

const DECIMALS = 6;
const MIN_AMOUNT = 1 / MICRO;
const plainDecimal = /^(-?(?:0|[1-9]\d*))(?:\.(\d+))?$/;

/** A number that was taken as money, or why not. */
export type AmountResult =
  | { readonly ok: true; readonly amount: Micro }
  | { readonly ok: false; readonly code: AmountCode };

/**
 * An untrusted JSON value in currency units as money in micro-units (specification, "Budget").
 * Refused: `money.not_a_number` (not a finite number; text is not), `money.not_positive` (below 0,
 * or 0 without `allowZero`), `money.too_large` (above 1e9), `money.too_many_decimals` (more than
 * 6).
 */
export function parseAmount(
  value: unknown,
  { allowZero = false }: { readonly allowZero?: boolean } = {},
): AmountResult {
  if (typeof value !== "number" || !Number.isFinite(value)) return refuse("money.not_a_number");
  if (value < 0 || (value === 0 && !allowZero)) return refuse("money.not_positive");
  const read = parseDecimal(value);
  return read.ok && read.amount > MAX_AMOUNT ? refuse("money.too_large") : read;
}

/**
 * Currency units, as a number or as plain decimal text such as `"-12.5"`, as money in micro-units.
 * Throws RangeError on anything but a decimal of at most 6 places inside the safe range; for
 * untrusted values see `parseAmount`.
 */
export function toMicro(value: number | string): Micro {
  const read = parseDecimal(value);
  if (!read.ok) throw new RangeError(read.code);
  return read.amount;
}

/**
 * Money in micro-units as the JSON number of currency units, with at most 6 decimals. `toMicro`
 * gives the same money back up to 2^33 units; above, neighbouring micro-units share one double.
 */
export function fromMicro(amount: Micro): number {
  return amount / MICRO;
}

/**
 * Converts an integer of micro-units, as read from storage or added up, to the JSON number of
 * currency units. Throws RangeError unless it is a safe integer.
 */
export function toDollars(integer: number): number {
  return fromMicro(asMicro(integer));
}

/**
 * Reads the decimal that was written: the shortest text of a double is exact where its product with
 * 1e6 is not.
 */
function parseDecimal(value: number | string): AmountResult {
  if (typeof value === "number") {
    // Outside these bounds the shortest text has an exponent.
    if (value !== 0 && Math.abs(value) < MIN_AMOUNT) return refuse("money.too_many_decimals");
    if (Math.abs(value) * MICRO > Number.MAX_SAFE_INTEGER) return refuse("money.too_large");
  }
  const match = plainDecimal.exec(String(value));
  if (match === null) return refuse("money.not_a_number");
  const [, whole = "", decimals = ""] = match;
  if (decimals.length > DECIMALS) return refuse("money.too_many_decimals");
  const micros = Number(whole + decimals.padEnd(DECIMALS, "0"));
  return Number.isSafeInteger(micros)
    ? { ok: true, amount: asMicro(micros) }
    : refuse("money.too_large");
}

function refuse(code: AmountCode): AmountResult {
  return { ok: false, code };
}
