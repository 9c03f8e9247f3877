import { useEffect, useRef, useState } from "preact/hooks";
import { showTime } from "../format/show-text.ts";
import type { ChartData, DrawnChart } from "./chart-data.ts";

interface ChartProps extends ChartData {
  readonly label: string;
  readonly isStacked?: boolean;
  readonly isLogarithmic?: boolean;
  /** Formats a value for people. */
  readonly show: (value: number) => string;
}

/** A chart on a canvas, and the same numbers as a table for screen readers. */
export function LineChart(props: ChartProps) {
  const { label, times, lines, show } = props;
  const place = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<DrawnChart | undefined>();
  useEffect(() => {
    let isCurrent = true;
    let drawn: DrawnChart | undefined;
    // The library is a third of the page, so it is loaded separately.
    void import("./draw-chart.ts").then(({ drawChart }) => {
      if (!isCurrent || place.current === null) return;
      drawn = drawChart(place.current, props);
      setChart(drawn);
    });
    return () => {
      isCurrent = false;
      drawn?.destroy();
    };
  }, []);
  useEffect(() => chart?.update({ times, lines }), [chart, times, lines]);
  return (
    <figure class="chart">
      <figcaption>
        {label}
        <span class="legend">
          {lines.map(({ label: name, color }) => (
            <span key={name} class={`legend-${color}`}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} class="canvas" aria-hidden="true" />
      <div class="hidden">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">time</th>
              {lines.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, at) => (
              <tr key={time}>
                <th scope="row">{showTime(time)}</th>
                {lines.map(({ label: name, values }) => {
                  const value = values[at] ?? null;
                  return <td key={name}>{value === null ? "no data" : show(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
