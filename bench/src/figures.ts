export function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Returns the 99th percentile. */
export function computePercentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

/** One line of a result: a figure with its baseline and its goal. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly floor: number;
  /** Absent if only the floor is required. */
  readonly goal?: number;
  /** The values of the rounds, of which the smallest and the largest are printed. */
  readonly rounds?: readonly number[];
  /** With `max`, the value must not exceed the floor and the goal. */
  readonly bound?: "min" | "max";
}

export function printFigures(figures: readonly Figure[]): void {
  console.log(
    `${"figure".padEnd(64)} ${"value".padStart(8)} ${"floor".padStart(8)} ${"goal".padStart(8)}`,
  );
  for (const { name, value, floor, goal = Number.NaN, bound = "min", rounds = [] } of figures) {
    const meets = (limit: number) => (bound === "min" ? value >= limit : value <= limit);
    const verdict = meets(goal) ? "goal" : meets(floor) ? "floor" : "MISSED";
    const cells = [value, floor, goal].map((cell) =>
      (Number.isNaN(cell) ? "" : cell.toPrecision(3)).padStart(8),
    );
    console.log(
      `${name.padEnd(64)} ${cells.join(" ")}  ${verdict.padEnd(6)} ${formatSpread(rounds)}`.trimEnd(),
    );
  }
}

function formatSpread(rounds: readonly number[]): string {
  if (rounds.length === 0) return "";
  const sorted = rounds.toSorted((a, b) => a - b);
  return `${sorted[0]!.toPrecision(3)}..${sorted.at(-1)!.toPrecision(3)}`;
}
