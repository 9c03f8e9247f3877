const WIDTH = 120;
const HEIGHT = 28;

/** A small line of the latest values; its label states the numbers for screen readers. */
export function Sparkline({
  values,
  label,
}: {
  values: readonly (number | null)[];
  label: string;
}) {
  const known = values.map((value) => value ?? 0);
  const max = Math.max(...known, 0);
  if (known.length < 2 || max === 0) return null;
  const step = WIDTH / (known.length - 1);
  const points = known
    .map(
      (value, at) =>
        `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / max) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .join(" ");
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${label}: now ${known.at(-1) ?? 0}, at most ${max}`}
      preserveAspectRatio="none"
    >
      <polyline points={points} />
    </svg>
  );
}
