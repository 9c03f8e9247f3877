import * as v from "valibot";
import { amount, text, time } from "./fields.ts";

/** One side of a movement of money as a relay states it. */
export const PostingSchema = v.looseObject(
  {
    transaction_id: text,
    account: text,
    type: text,
    amount,
    created_at: time,
  },
  "must be a JSON object with every member of its kind",
);

/** One side of a transaction: into the account, or out of it if negative. */
export interface BundlePosting {
  readonly transaction_id: string;
  readonly account: string;
  readonly type: string;
  readonly amount: number;
  readonly created_at: number;
}

/**
 * Returns whether every amount is an integer of micro-units below 2^53. Other amounts are refused, not
 * rounded: a small amount would be lost when added to a large one.
 */
export function areAmountsExact(postings: readonly BundlePosting[]): boolean {
  return postings.every(({ amount }) => {
    const micro = Math.round(amount * MICRO);
    return Number.isSafeInteger(micro) && micro / MICRO === amount;
  });
}

/**
 * Returns an exact amount in micro-units as a bigint, so that any number of them can be added without loss.
 */
export function toMicroUnits(amount: number): bigint {
  return BigInt(Math.round(amount * MICRO));
}

const MICRO = 1e6;
