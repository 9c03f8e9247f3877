import type { ComponentChildren } from "preact";

/** A list of facts, each with its name. */
export function FactList({
  facts,
}: {
  facts: readonly (readonly [name: string, fact: ComponentChildren])[];
}) {
  return (
    <dl class="fact-list">
      {facts.map(([name, fact]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
