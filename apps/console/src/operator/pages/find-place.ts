import { formatHashRoute } from "../../shared/routing/hash-route.ts";

/** The ids on the first page of a search. */
export interface FoundIds {
  readonly ids: readonly string[];
  /** Whether the search has further pages. */
  readonly isCut: boolean;
}

/** A shorter end of an id is too common. */
const MIN_LENGTH = 8;

/**
 * Returns the page of the only task or agent whose id equals a text or ends with it. On a further page, another id
 * may end alike: agents choose their ids and names, and so which of them come first.
 */
export function findPlace(
  q: string,
  found: { readonly tasks: FoundIds; readonly agents: FoundIds },
): string | undefined {
  const places = (["tasks", "agents"] as const).flatMap((name) =>
    found[name].ids.map((id) => ({ id, isCut: found[name].isCut, place: [name, id] as const })),
  );
  const whole = places.find(({ id }) => id === q);
  if (whole !== undefined) return formatHashRoute(whole.place);
  const [only, ...others] = places.filter(({ id }) => q.length >= MIN_LENGTH && id.endsWith(q));
  if (only === undefined || only.isCut || others.length > 0) return undefined;
  return formatHashRoute(only.place);
}
