import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatTick, getValueRange } from "./chart-axes.ts";
import type { ChartData, DrawnChart } from "./chart-data.ts";

interface DrawOptions extends ChartData {
  readonly isStacked?: boolean;
  readonly isLogarithmic?: boolean;
  readonly show: (value: number) => string;
}

const HEIGHT = 180;
/** The width of a date in pixels, with a gap. */
const TICK_SPACE = 84;

/** Draws a chart into an element, and always adapts it to the element's width. */
export function drawChart(place: HTMLElement, options: DrawOptions): DrawnChart {
  const create = (data: ChartData) =>
    new UPlot(buildOptions(place, { ...options, ...data }), toColumns(data, options), place);
  let last: ChartData = options;
  let plot = create(last);
  const resized = new ResizeObserver(() =>
    plot.setSize({ width: place.clientWidth, height: HEIGHT }),
  );
  resized.observe(place);
  // The colours come from the style sheet, where they differ between light and dark.
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    plot.destroy();
    plot = create(last);
  };
  scheme.addEventListener("change", redraw);
  const chosen = new MutationObserver(redraw);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return {
    update(data) {
      last = data;
      plot.setData(toColumns(data, options));
    },
    destroy() {
      resized.disconnect();
      scheme.removeEventListener("change", redraw);
      chosen.disconnect();
      plot.destroy();
    },
  };
}

function buildOptions(place: HTMLElement, options: DrawOptions): UPlot.Options {
  const { lines, isStacked = false, isLogarithmic = false, show } = options;
  const colorOf = (name: string) => readColor(place, name);
  const axis = {
    stroke: colorOf("quiet"),
    grid: { stroke: colorOf("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: isLogarithmic ? { distr: 3 } : { range: (_plot, min, max) => getValueRange(min, max) },
    },
    axes: [
      {
        ...axis,
        size: 32,
        space: TICK_SPACE,
        values: ({ scales: { x } }, splits, _axis, _space, step) => {
          const span = (x?.max ?? 0) - (x?.min ?? 0);
          return splits.map((seconds) => formatTick(seconds, { span, step }));
        },
      },
      {
        ...axis,
        size: 64,
        values: (_plot, splits) => splits.map((each) => (each === null ? "" : show(each))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color }) => ({
        label,
        stroke: colorOf(`chart-${color}`),
        width: 2,
        points: { show: true, size: 7, filter: listLonePoints },
        ...(isStacked && { fill: addAlpha(colorOf(`chart-${color}`)) }),
      })),
    ],
  };
}

/** Lists the values without neighbours, which a line would not show. */
function listLonePoints(plot: UPlot, line: number): number[] {
  const values = Array.from(plot.data[line] ?? []);
  const isMissing = (at: number) => (values[at] ?? null) === null;
  return values.flatMap((_, at) =>
    !isMissing(at) && isMissing(at - 1) && isMissing(at + 1) ? [at] : [],
  );
}

/** A canvas does not support CSS variables, so the browser resolves them as an element's colour. */
function readColor(place: HTMLElement, name: string): string {
  place.style.color = `var(--${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = "";
  return color;
}

const addAlpha = (color: string) => color.replace("rgb(", "rgba(").replace(")", ", 0.3)");

/** Returns the columns that the library expects; in a stack, each line is drawn on top of the later ones. */
function toColumns(
  { times, lines }: ChartData,
  { isStacked = false, isLogarithmic = false }: DrawOptions,
): UPlot.AlignedData {
  const columns = lines.map(({ values }) =>
    // Zero has no logarithm.
    values.map((value) => (isLogarithmic && value !== null && value <= 0 ? null : value)),
  );
  const drawn = isStacked ? columns.map((_, first) => addUp(columns.slice(first))) : columns;
  return [times.map((time) => time / 1_000), ...drawn];
}

function addUp(columns: readonly (readonly (number | null)[])[]): number[] {
  const [first = []] = columns;
  return first.map((_, at) => columns.reduce((sum, column) => sum + (column[at] ?? 0), 0));
}
