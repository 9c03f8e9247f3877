import { isFeeRate, parseAmount } from "@agent/budget";
import {
  type DecisionRecord,
  DecisionRecordSchema,
  type OutcomeRecord,
  OutcomeRecordSchema,
  type VerdictRecord,
  VerdictRecordSchema,
} from "@agent/receipts";
import * as v from "valibot";
import { text } from "../fields.ts";
import { type BundlePosting, PostingSchema } from "../posting-schema.ts";

const STATES = ["inspecting", "rejected", "disputed", "closed"] as const;

const duration = v.pipe(
  v.number("must be a number"),
  v.safeInteger("must be a whole number"),
  v.minValue(1, "must be at least 1"),
);
const money = v.pipe(
  v.number("must be a number"),
  v.check((amount) => parseAmount(amount, { allowZero: true }).ok, "must be an amount of money"),
);
const rate = v.pipe(
  v.number("must be a number"),
  v.check((value) => isFeeRate(value), "must be a fee rate"),
);

/** The inspection of a task in its evidence. */
export const InspectionSchema = v.looseObject(
  {
    state: v.picklist(STATES, `must be one of: ${STATES.join(", ")}`),
    terms: v.looseObject(
      {
        window_ms: duration,
        answer_ms: duration,
        decision_ms: duration,
        arbiter_id: text,
        fee_rate: rate,
        fee_min: money,
        platform_fee_rate: rate,
      },
      "must be a JSON object with every term",
    ),
    due: money,
    fee: money,
    verdicts: v.array(VerdictRecordSchema, "must be an array"),
    decision: v.nullable(DecisionRecordSchema),
    outcome: v.nullable(OutcomeRecordSchema),
    postings: v.array(PostingSchema, "must be an array"),
  },
  "must be a JSON object with every member of its kind",
);

/** The inspection of a task before it was paid (docs/decisions.md, 5): amounts in US dollars. */
export interface BundleInspection {
  readonly state: (typeof STATES)[number];
  /** Times in ms; `arbiter_id` is the relay id if the operator was to decide. */
  readonly terms: {
    readonly window_ms: number;
    readonly answer_ms: number;
    readonly decision_ms: number;
    readonly arbiter_id: string;
    readonly fee_rate: number;
    readonly fee_min: number;
    readonly platform_fee_rate: number;
  };
  /** The amount that the receipt earned. */
  readonly due: number;
  /** The arbitration fee for that amount. */
  readonly fee: number;
  /** In the order of their arrival. */
  readonly verdicts: readonly VerdictRecord[];
  readonly decision: DecisionRecord | null;
  readonly outcome: OutcomeRecord | null;
  /**
   * The part of the hold that was returned on the receipt's arrival, the executor's bond, and the
   * arbitration fee.
   */
  readonly postings: readonly BundlePosting[];
}
