/** One part of a whole, with its amount in words. */
export interface BarPart {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

const WIDTH = 400;
const HEIGHT = 22;
const TONES = 6;

/** The parts of a sum as a bar, and also as a list in words. */
export function StackedBar({ parts, label }: { parts: readonly BarPart[]; label: string }) {
  const total = parts.reduce((sum, { value }) => sum + Math.max(0, value), 0);
  let start = 0;
  const shapes = parts.map(({ label: name, value }, index) => {
    const width = total === 0 ? 0 : (Math.max(0, value) / total) * WIDTH;
    const x = start;
    start += width;
    return (
      <rect key={name} class={`tone${index % TONES}`} x={x} y={0} width={width} height={HEIGHT} />
    );
  });
  return (
    <div class="stacked">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={label}
        preserveAspectRatio="none"
      >
        {shapes}
      </svg>
      <ul>
        {parts.map(({ label: name, text }, index) => (
          <li key={name}>
            <span class={`swatch tone${index % TONES}`} aria-hidden="true" /> {name} {text}
          </li>
        ))}
      </ul>
    </div>
  );
}
