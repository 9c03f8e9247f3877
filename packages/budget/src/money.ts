declare const unit: unique symbol;

/** Money: a safe integer of millionths of a currency unit, branded so that a plain number is rejected. */
export type Micro = number & { readonly [unit]: "micro" };

/** The micro-units of one currency unit. */
export const MICRO = 1_000_000;

/** An amount of zero. */
export const ZERO: Micro = asMicro(0);

/**
 * Brands an integer of micro-units, for example from storage or a sum, as money. Throws a RangeError
 * unless it is a safe integer.
 */
export function asMicro(integer: number): Micro {
  if (!Number.isSafeInteger(integer)) {
    throw new RangeError("an amount must be a safe integer of micro-units");
  }
  // Strict comparisons would distinguish -0 from 0.
  return (integer === 0 ? 0 : integer) as Micro;
}

/** Returns the amount with the opposite sign. */
export function negate(amount: Micro): Micro {
  return asMicro(0 - amount);
}

/** Returns the amount; throws for a negative one, which only a bug can cause. */
export function assertNotNegative(amount: Micro): Micro {
  if (!(amount >= 0)) throw new RangeError("amount must not be negative");
  return amount;
}

/**
 * Adds amounts that are not negative, capped at the greatest safe integer. That exceeds every balance, so a
 * capped sum can never be paid.
 */
export function saturatingSum(amounts: Iterable<Micro>): Micro {
  let sum = 0;
  for (const amount of amounts) {
    sum = Math.min(sum + assertNotNegative(amount), Number.MAX_SAFE_INTEGER);
  }
  return asMicro(sum);
}

/** Returns amount × numerator / denominator, rounded half up; all are integers and not negative. */
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

/** Divides two integers that are not negative, rounded half up. */
export function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}
