import { useCallback, useMemo, useState } from "preact/hooks";
import type { SeriesMetric } from "@agent/wire";
import { RefusalText } from "../../shared/components/answer-view.tsx";
import { LineChart } from "../../shared/charts/line-chart.tsx";
import { showDuration } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { browserEnvironment, usePageContext } from "../../shared/relay/page-context.ts";
import { useLoaded } from "../../shared/relay/use-answer.ts";

const HOUR_MS = 3_600_000;

/** The selectable periods, each with the interval between its drawn values. */
const PERIODS = [
  { word: "1 h", hours: 1, stepMs: 60_000 },
  { word: "6 h", hours: 6, stepMs: 300_000 },
  { word: "24 h", hours: 24, stepMs: 900_000 },
] as const;

const METRICS = ["completed", "failed", "expired", "p50", "p95"] as const satisfies SeriesMetric[];

type Series = Record<(typeof METRICS)[number], BodyOf<"getSeries">["points"]>;

const showTenths = (value: number) => String(Math.round(value * 10) / 10);

/** Draws the outcomes of tasks and their durations, in a period that the user chooses. */
export function OverviewCharts() {
  const { relay } = usePageContext();
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>(PERIODS[0]);
  const load = useCallback(async () => {
    const from = browserEnvironment.now() - period.hours * HOUR_MS;
    const series: Partial<Series> = {};
    for (const metric of METRICS) {
      const query = { metric, from, step: period.stepMs };
      const answer = await relay.call("getSeries", { query });
      if (!answer.ok) return answer;
      series[metric] = answer.body.points;
    }
    return { ok: true as const, body: series as Series };
  }, [relay, period]);
  const { body, refusal } = useLoaded(load, { everyMs: period.stepMs });
  return (
    <section>
      <div class="chips" role="group" aria-label="Period of the charts">
        {PERIODS.map((each) => (
          <button
            key={each.word}
            type="button"
            aria-pressed={each === period}
            onClick={() => setPeriod(each)}
          >
            {each.word}
          </button>
        ))}
      </div>
      {refusal !== undefined && <RefusalText refusal={refusal} />}
      {body !== undefined && <ChartPair key={period.word} series={body} />}
    </section>
  );
}

function ChartPair({ series }: { series: Series }) {
  const times = useMemo(() => series.completed.map(({ at }) => at), [series]);
  const valuesOf = (metric: keyof Series) => series[metric].map(({ value }) => value);
  const ends = useMemo(
    () => [
      { label: "completed", color: "good", values: valuesOf("completed") },
      { label: "failed", color: "bad", values: valuesOf("failed") },
      { label: "expired", color: "doubt", values: valuesOf("expired") },
    ],
    [series],
  );
  const times50 = useMemo(
    () => [
      { label: "median (p50)", color: "good", values: valuesOf("p50") },
      { label: "95th percentile (p95)", color: "link", values: valuesOf("p95") },
    ],
    [series],
  );
  return (
    <div class="columns">
      <LineChart label="Tasks that ended" times={times} lines={ends} show={showTenths} isStacked />
      <LineChart
        label="Time from submission to receipt"
        times={times}
        lines={times50}
        show={showDuration}
        isLogarithmic
      />
    </div>
  );
}
