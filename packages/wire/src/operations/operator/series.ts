import * as v from "valibot";
import { extensibleEnum, timeText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The figures of which the relay keeps one row a minute. */
export const SERIES_METRICS = [
  "submitted",
  "completed",
  "failed",
  "expired",
  "settled",
  "fees",
  "p50",
  "p95",
  "online",
] as const;
export type SeriesMetric = (typeof SERIES_METRICS)[number];

const STEP_RULE = "must be whole minutes in milliseconds, from 60000 to 172800000";

export const series = {
  getSeries: defineOperation({
    method: "GET",
    path: "/api/v1/admin/series",
    summary: "Get a figure per `step` since `from`, at most of the last 48 hours, oldest first.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      metric: v.picklist(SERIES_METRICS),
      /** The default is an hour ago. */
      from: v.optional(timeText),
      /** In ms; the default is a minute. */
      step: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^\d{1,9}$/, STEP_RULE),
          v.transform(Number),
          v.number(),
          v.safeInteger(STEP_RULE),
          v.check((step) => step % 60_000 === 0 && step > 0 && step <= 172_800_000, STEP_RULE),
        ),
      ),
    }),
    ok: {
      200: v.object({
        metric: extensibleEnum(SERIES_METRICS),
        step: wholeNumber,
        /** Counts, USD (`settled`, `fees`) or ms (`p50`, `p95`, from submission to receipt); null without data. */
        points: v.array(v.object({ at: wholeNumber, value: v.nullable(v.number()) })),
      }),
    },
    refusals: [],
  }),
} as const;
