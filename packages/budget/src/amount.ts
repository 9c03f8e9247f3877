import { asMicro, MICRO, type Micro } from "./money.ts";
import type { AmountCode } from "./refusals.ts";

/** The maximum amount that is accepted: 1e9 currency units. */
export const MAX_AMOUNT: Micro = asMicro(1e9 * MICRO);

const MAX_DECIMALS = 6;
const MIN_AMOUNT = 1 / MICRO;
const plainDecimal = /^(-?(?:0|[1-9]\d*))(?:\.(\d+))?$/;

/** A parsed amount, or the code of its refusal. */
export type AmountResult =
  | { readonly ok: true; readonly amount: Micro }
  | { readonly ok: false; readonly code: AmountCode };

/**
 * Parses an untrusted JSON value in currency units as money in micro-units (specification, "Budget").
 * Refused with `money.not_a_number` (not a finite number; strings are refused too), `money.not_positive`
 * (below 0, or 0 without `allowZero`), `money.too_large` (above 1e9) or `money.too_many_decimals` (more
 * than 6).
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
 * Converts currency units, given as a number or as plain decimal text such as `"-12.5"`, to micro-units.
 * Throws a RangeError unless the value has at most 6 decimals and is within the safe range. For untrusted
 * values use `parseAmount`.
 */
export function toMicro(value: number | string): Micro {
  const read = parseDecimal(value);
  if (!read.ok) throw new RangeError(read.code);
  return read.amount;
}

/**
 * Converts micro-units to the JSON number of currency units, with at most 6 decimals. `toMicro` is its
 * inverse up to 2^33 units; above, neighbouring micro-units share one double.
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
 * Parses the shortest decimal text of a number, which is exact where the product of the double with 1e6
 * is not.
 */
function parseDecimal(value: number | string): AmountResult {
  if (typeof value === "number") {
    // Outside these bounds the shortest text has an exponent.
    if (value !== 0 && Math.abs(value) < MIN_AMOUNT) return refuse("money.too_many_decimals");
    if (Math.abs(value) * MICRO > Number.MAX_SAFE_INTEGER) return refuse("money.too_large");
  } else if (typeof value !== "string") {
    // An array such as `[1]` also converts to a decimal text.
    return refuse("money.not_a_number");
  }
  const match = plainDecimal.exec(String(value));
  if (match === null) return refuse("money.not_a_number");
  const [, whole = "", decimals = ""] = match;
  if (decimals.length > MAX_DECIMALS) return refuse("money.too_many_decimals");
  const micros = Number(whole + decimals.padEnd(MAX_DECIMALS, "0"));
  return Number.isSafeInteger(micros)
    ? { ok: true, amount: asMicro(micros) }
    : refuse("money.too_large");
}

function refuse(code: AmountCode): AmountResult {
  return { ok: false, code };
}
