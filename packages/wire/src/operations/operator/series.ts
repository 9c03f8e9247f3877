import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { delayed, extensibleEnum, timeText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The metrics that the relay stores once a minute. */
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
    summary:
      "Get one value of a metric per `step` since `from`, oldest first, for at most the last 48 hours.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      metric: describeAs(v.picklist(SERIES_METRICS), "The metric."),
      from: describeAs(
        v.optional(timeText),
        "The time of the first point, in ms since the Unix epoch; an hour ago if absent.",
      ),
      step: describeAs(
        v.optional(
          v.pipe(
            v.string(),
            v.regex(/^\d{1,9}$/, STEP_RULE),
            v.transform(Number),
            v.number(),
            v.safeInteger(STEP_RULE),
            v.minValue(60_000, STEP_RULE),
            v.maxValue(172_800_000, STEP_RULE),
            v.multipleOf(60_000, STEP_RULE),
          ),
        ),
        "The time between two points in ms, whole minutes; a minute if absent.",
      ),
    }),
    ok: {
      200: v.object({
        metric: describeAs(extensibleEnum(SERIES_METRICS), "The metric."),
        step: describeAs(wholeNumber, "The time between two points, in ms."),
        points: describeAs(
          v.array(
            v.object({
              at: describeAs(wholeNumber, "The beginning of the step, in ms since the Unix epoch."),
              value: describeAs(
                v.nullable(v.number()),
                "The value for the step; null if there is no data.",
              ),
            }),
          ),
          "Counts, USD (`settled`, `fees`) or ms (`p50`, `p95`, from submission to receipt), oldest first.",
        ),
        delayed,
      }),
    },
    refusals: [],
  }),
} as const;
