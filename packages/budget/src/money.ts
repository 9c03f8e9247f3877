declare const unit: unique symbol;

/**
 * Money: a safe integer of millionths of a currency unit; a bare number does not fit in its place.
 */
export type Micro = number & { readonly [unit]: "micro" };

/** Micro-units in one currency unit. */
export const MICRO = 1_000_000;

export const ZERO: Micro = asMicro(0);

/**
 * An integer that already counts micro-units, as read from storage or added up, as money.
 * Throws RangeError unless it is a safe integer.
 */
export function asMicro(integer: number): Micro {
  if (!Number.isSafeInteger(integer)) {
    throw new RangeError("an amount must be a safe integer of micro-units");
  }
  // -0 would be told apart from 0 by strict comparisons.
  return (integer === 0 ? 0 : integer) as Micro;
}

/** The same money the other way. */
export function negate(amount: Micro): Micro {
  return asMicro(0 - amount);
}

/** Passes the amount on; a negative one here is a fault of the program, never of a request. */
export function assertNotNegative(amount: Micro): Micro {
  if (!(amount >= 0)) throw new RangeError("an amount must not be negative");
  return amount;
}

/**
 * Adds amounts that are not negative, stopping at the greatest safe integer: that is above every
 * balance, so a sum that was cut off can never be paid.
 */
export function saturatingSum(amounts: Iterable<Micro>): Micro {
  let sum = 0;
  for (const amount of amounts) {
    sum = Math.min(sum + assertNotNegative(amount), Number.MAX_SAFE_INTEGER);
  }
  return asMicro(sum);
}

/**
 * amount × numerator / denominator, rounded half up to a micro-unit; all integers, none negative.
 */
export function scaleHalfUp(amount: Micro, numerator: number, denominator: number): Micro {
  const product = assertNotNegative(amount) * numerator;
  if (product > Number.MAX_SAFE_INTEGER) {
    const exact = BigInt(amount) * BigInt(numerator);
    return asMicro(Number(divideHalfUp(exact, BigInt(denominator))));
  }
  const remainder = product % denominator;
  const quotient = (product - remainder) / denominator;
  return asMicro(remainder * 2 >= denominator ? quotient + 1 : quotient);
}

/** The quotient of two integers that are not negative, rounded half up. */
export function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}
