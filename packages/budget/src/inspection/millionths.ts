import { toMicro } from "../amount.ts";
import { MICRO, scaleHalfUp, type Micro } from "../money.ts";

declare const unit: unique symbol;

/**
 * A share from 0 to 1: an integer from 0 to 1,000,000, branded so that neither money nor a plain number
 * is accepted for it.
 */
export type Millionths = number & { readonly [unit]: "millionths" };

/**
 * Brands an integer of millionths, for example from storage, as a share. Throws a RangeError unless it is
 * from 0 to 1,000,000.
 */
export function asMillionths(integer: number): Millionths {
  if (!Number.isInteger(integer) || integer < 0 || integer > MICRO) {
    throw new RangeError(`a share must be a whole number of millionths from 0 to ${MICRO}`);
  }
  // Strict comparisons would distinguish -0 from 0.
  return (integer === 0 ? 0 : integer) as Millionths;
}

/** None of an amount. */
export const NO_SHARE: Millionths = asMillionths(0);

/** All of an amount. */
export const WHOLE_SHARE: Millionths = asMillionths(MICRO);

/**
 * Converts a share from 0 to 1, given as a number or as plain decimal text such as `"0.25"`, to millionths.
 * Throws a RangeError for a value out of range or with more than 6 decimals.
 */
export function toMillionths(value: number | string): Millionths {
  return asMillionths(toMicro(value));
}

/** Converts millionths to the JSON number from 0 to 1. */
export function fromMillionths(share: Millionths): number {
  return share / MICRO;
}

/** Returns the share of an amount that is not negative, rounded half up to a micro-unit. */
export function computePart(amount: Micro, share: Millionths): Micro {
  return scaleHalfUp(amount, share, MICRO);
}
