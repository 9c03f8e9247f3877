import { limits } from "@agent/wire";
import * as v from "valibot";
import { DAY_MS } from "../../clock/durations.ts";
import { decimalBetween, integerBetween, type Variable } from "../config-values.ts";

/** The fees, in USD, behind a level; see docs/trust.md. */
export const DEFAULT_FEES = { verified: 0.05, trusted: 0.5 } as const;

/** The minimum time that a party needs to inspect; only tests use less. */
export const DEFAULT_MIN_WINDOW_MS = 60_000;

/** The variables of fees, disputes and trust. */
export const feeVariables = {
  AGENT_PLATFORM_FEE_RATE: {
    purpose: "Share of a charge that the relay keeps",
    // The rate is below 1, because a worker must always earn something.
    schema: v.optional(decimalBetween(0, 0.999999), "0.05"),
  },
  AGENT_DISPUTE_ANSWER_MS: {
    purpose: "Milliseconds for which an executor may contest the rejection of its result",
    schema: v.optional(integerBetween(100, 365 * DAY_MS), "259200000"),
  },
  AGENT_DISPUTE_DECISION_MS: {
    purpose: "Milliseconds for which an arbiter may decide a dispute, and then the operator",
    schema: v.optional(integerBetween(100, 365 * DAY_MS), "604800000"),
  },
  AGENT_DISPUTE_FEE_RATE: {
    purpose: "Share of the sum in dispute that the loser pays for the arbitration",
    schema: v.optional(decimalBetween(0, 0.5), "0.05"),
  },
  AGENT_DISPUTE_FEE_MIN: {
    purpose: "Minimum fee of an arbitration, in USD",
    schema: v.optional(decimalBetween(0, 100), "0.01"),
  },
  AGENT_DISPUTE_WINDOW_MIN_MS: {
    purpose:
      "Shortest inspection, in milliseconds, that agents may agree on; below 60000 for tests",
    schema: v.optional(
      integerBetween(limits.minInspectionWindowMs, DEFAULT_MIN_WINDOW_MS),
      String(DEFAULT_MIN_WINDOW_MS),
    ),
  },
  AGENT_TRUST_FEES_VERIFIED: {
    purpose:
      "Fees, in USD, that a payer must leave before its word for the level verified counts in full",
    schema: v.optional(decimalBetween(0, 1_000_000), String(DEFAULT_FEES.verified)),
  },
  AGENT_TRUST_FEES_TRUSTED: {
    purpose:
      "Fees, in USD, that a payer must leave before its word for the level trusted counts in full",
    schema: v.optional(decimalBetween(0, 1_000_000), String(DEFAULT_FEES.trusted)),
  },
} as const satisfies Record<string, Variable>;
