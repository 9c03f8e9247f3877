import { showLine } from "../format/show-text.ts";
import { formatHashRoute } from "../routing/hash-route.ts";
import { usePageContext } from "../relay/page-context.ts";

/** Choices of one filter as links, so that the address says which list it is. */
export function FilterLinks({
  name,
  label,
  choices,
}: {
  /** The member of the query that they set. */
  name: string;
  label: string;
  /** The value and the word of each choice; the first value is that of no filter. */
  choices: readonly (readonly [value: string, word: string])[];
}) {
  const { path, query } = usePageContext().route.value;
  const current = query.get(name) ?? "";
  const others = Object.fromEntries(query);
  return (
    <nav class="chips" aria-label={label}>
      {choices.map(([value, word]) => (
        <a
          key={value}
          href={formatHashRoute(path, { ...others, [name]: value })}
          aria-current={value === current ? "true" : undefined}
        >
          {word}
        </a>
      ))}
    </nav>
  );
}

/** Shows a filter that a link to the page has set, because a list must not look longer than it is, and ends it. */
export function GivenFilter({ name, label }: { name: string; label: string }) {
  const { path, query } = usePageContext().route.value;
  const value = query.get(name) ?? "";
  if (value === "") return null;
  const others = Object.fromEntries([...query].filter(([each]) => each !== name));
  return (
    <p>
      {label} <code class="quoted">{showLine(value, 256)}</code>.{" "}
      <a href={formatHashRoute(path, others)}>Show all</a>
    </p>
  );
}
