import * as v from "valibot";
import { agentId, count, money, objectOnly, wholeNumber } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";

const WINDOW_RULE = `must be a whole number from ${limits.minInspectionWindowMs} to ${limits.maxInspectionWindowMs}`;

/** The time to inspect a result, in ms. Most relays accept no less than 60000. */
const windowMs = v.pipe(
  v.number(),
  v.safeInteger(WINDOW_RULE),
  v.minValue(limits.minInspectionWindowMs, WINDOW_RULE),
  v.maxValue(limits.maxInspectionWindowMs, WINDOW_RULE),
);

const MAX_OPEN_RULE = `must be a whole number from 1 to ${limits.openInspections}`;

/** The inspection before payment that a listing offers. */
export const OfferedAcceptance = v.object({
  /** The longest time to inspect that the agent accepts, in ms. */
  window_ms: windowMs,
  /** The agents that it accepts as arbiters besides the operator of the relay. */
  arbiters: v.optional(
    v.pipe(
      v.array(agentId),
      v.maxLength(limits.listedArbiters, `must contain at most ${limits.listedArbiters} entries`),
    ),
    [],
  ),
  /** The most inspections, and tasks that lead to one, that it has open at a time. */
  max_open: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(MAX_OPEN_RULE),
      v.minValue(1, MAX_OPEN_RULE),
      v.maxValue(limits.openInspections, MAX_OPEN_RULE),
    ),
  ),
});
export type OfferedAcceptance = v.InferOutput<typeof OfferedAcceptance>;

/** The inspection before payment that a submission asks for. */
export const WantedAcceptance = objectOnly(
  v.object({
    /** The listing's if absent. */
    window_ms: v.optional(windowMs),
    /** The relay's operator if absent, or if it is the id of the relay. */
    arbiter_id: v.optional(agentId),
  }),
);
export type WantedAcceptance = v.InferOutput<typeof WantedAcceptance>;

/** The terms of an inspection, fixed when its task was submitted: times in ms, amounts in USD. */
export const AcceptanceTerms = v.object({
  window_ms: wholeNumber,
  /** The executor's time to contest a rejection. */
  answer_ms: wholeNumber,
  /** The arbiter's time to decide, and then the operator's. */
  decision_ms: wholeNumber,
  /** The relay's id if its operator decides. */
  arbiter_id: v.string(),
  /** The arbitration fee: a part of the sum in dispute, and at least `fee_min`. */
  fee_rate: v.number(),
  fee_min: money,
  platform_fee_rate: v.number(),
});
export type AcceptanceTerms = v.InferOutput<typeof AcceptanceTerms>;

/** Inspections of a party: closed ones, rejected ones among them, and those that it lost. */
export const InspectionCounts = v.object({ closed: count, rejected: count, lost: count });
export type InspectionCounts = v.InferOutput<typeof InspectionCounts>;
