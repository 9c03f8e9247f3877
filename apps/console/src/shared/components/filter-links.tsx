import { showLine } from "../format/show-text.ts";
import { formatHashRoute } from "../routing/hash-route.ts";
import { usePageContext } from "../relay/page-context.ts";

/** The choices of a filter as links, so that the page's address contains the filter. */
export function FilterLinks({
  name,
  label,
  choices,
}: {
  /** The member of the query that the links set. */
  name: string;
  label: string;
  /** The value and the label of each choice; the first value stands for no filter. */
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

/** Shows a filter that was set by a link, so that a partial list does not look complete, and offers to remove it. */
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
