import { toDollars } from "@agent/budget";
import { limits, type Answer, type Operations, type QueryOf, type SeriesMetric } from "@agent/wire";
import { HOUR_MS, MINUTE_MS } from "../clock/durations.ts";
import type { Services } from "../services.ts";
import type { RelayMinuteRow } from "../storage/tables/operator.ts";
import { getPercentile, mergeHistograms, type LatencyHistogram } from "./latency-histogram.ts";
import { listMinutes } from "./minute-store.ts";
import { numberIfPossible, type FeedServices } from "./number-events.ts";

/** Returns one figure per step, oldest first, the running one included. */
export async function getSeries(
  services: FeedServices & Pick<Services, "runtime">,
  { metric, from, step = MINUTE_MS }: QueryOf<Operations["getSeries"]>,
): Promise<Answer<Operations["getSeries"]>> {
  const isCurrent = await numberIfPossible(services);
  const now = services.runtime.now();
  const earliest = now - limits.seriesMs;
  const start = Math.max(from ?? now - HOUR_MS, earliest);
  const [first, perStep] = [Math.floor(start / MINUTE_MS), step / MINUTE_MS];
  const end = Math.floor(now / MINUTE_MS) + 1;
  const rows = await listMinutes(services.storage.read, { from: first, to: end });
  const steps = Map.groupBy(rows, ({ minute }) => Math.floor((minute - first) / perStep));
  const points = [];
  for (let minute = first; minute < end; minute += perStep) {
    const inStep = steps.get((minute - first) / perStep) ?? [];
    points.push({ at: minute * MINUTE_MS, value: toValue(metric, inStep) });
  }
  return { status: 200, body: { metric, step, points, ...(!isCurrent && { delayed: true }) } };
}

/** Returns the figure of a step: sums of counts and money, a percentile, or the mean of the samples. */
function toValue(metric: SeriesMetric, rows: readonly RelayMinuteRow[]): number | null {
  if (metric === "p50" || metric === "p95") {
    const histograms = rows.map(({ durations }) => JSON.parse(durations) as LatencyHistogram);
    return getPercentile(mergeHistograms(histograms), metric === "p50" ? 0.5 : 0.95);
  }
  if (metric === "online") {
    const samples = rows.flatMap(({ online }) => (online === null ? [] : [online]));
    const total = samples.reduce((sum, each) => sum + each, 0);
    return samples.length === 0 ? null : Math.round(total / samples.length);
  }
  const total = rows.reduce((sum, row) => sum + row[metric], 0);
  return metric === "settled" || metric === "fees" ? toDollars(total) : total;
}
