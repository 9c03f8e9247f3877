import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { agentId, count, money, objectOnly, wholeNumber } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";

const WINDOW_RULE = `must be a whole number from ${limits.minInspectionWindowMs} to ${limits.maxInspectionWindowMs}`;

/** The time to inspect a result, in ms. Most relays require at least 60000. */
const windowMs = v.pipe(
  v.number(),
  v.safeInteger(WINDOW_RULE),
  v.minValue(limits.minInspectionWindowMs, WINDOW_RULE),
  v.maxValue(limits.maxInspectionWindowMs, WINDOW_RULE),
);

const MAX_OPEN_RULE = `must be a whole number from 1 to ${limits.openInspections}`;

/** The inspection before payment that a listing offers. */
export const OfferedAcceptance = v.object({
  window_ms: describeAs(windowMs, "The longest time to inspect that the agent accepts, in ms."),
  arbiters: describeAs(
    v.optional(
      v.pipe(
        v.array(agentId),
        v.maxLength(limits.listedArbiters, `must contain at most ${limits.listedArbiters} entries`),
      ),
      [],
    ),
    "The agents that it accepts as arbiters besides the operator of the relay.",
  ),
  max_open: describeAs(
    v.optional(
      v.pipe(
        v.number(),
        v.safeInteger(MAX_OPEN_RULE),
        v.minValue(1, MAX_OPEN_RULE),
        v.maxValue(limits.openInspections, MAX_OPEN_RULE),
      ),
    ),
    "The most inspections, and tasks that lead to one, that it has open at a time.",
  ),
});
export type OfferedAcceptance = v.InferOutput<typeof OfferedAcceptance>;

/** The inspection before payment that a submission requests. */
export const WantedAcceptance = objectOnly(
  v.object({
    window_ms: describeAs(
      v.optional(windowMs),
      "The time to inspect, in ms; the listing's if absent.",
    ),
    arbiter_id: describeAs(
      v.optional(agentId),
      "The id of the arbiter; the relay's operator if absent, or if it is the id of the relay.",
    ),
  }),
);
export type WantedAcceptance = v.InferOutput<typeof WantedAcceptance>;

/** The terms of an inspection, fixed when its task was submitted: times in ms, amounts in USD. */
export const AcceptanceTerms = v.object({
  window_ms: describeAs(wholeNumber, "The time to inspect a result, in ms."),
  answer_ms: describeAs(wholeNumber, "The executor's time to contest a rejection, in ms."),
  decision_ms: describeAs(
    wholeNumber,
    "The arbiter's time to decide, and then the operator's, in ms.",
  ),
  arbiter_id: describeAs(
    v.string(),
    "The id of the arbiter; the relay's id if its operator decides.",
  ),
  fee_rate: describeAs(
    v.number(),
    "The arbitration fee as a share of the disputed amount, from 0 to 1; at least `fee_min`.",
  ),
  fee_min: money,
  platform_fee_rate: describeAs(
    v.number(),
    "The relay's fee as a share of the payment, from 0 to 1.",
  ),
});
export type AcceptanceTerms = v.InferOutput<typeof AcceptanceTerms>;

/** A party's inspections: the closed ones, and how many of them were rejected and lost. */
export const InspectionCounts = v.object({
  closed: describeAs(count, "The number of closed inspections, except those of almost no value."),
  rejected: describeAs(count, "The number of those in which the result was rejected."),
  lost: describeAs(count, "The number of those that the party lost."),
});
export type InspectionCounts = v.InferOutput<typeof InspectionCounts>;
