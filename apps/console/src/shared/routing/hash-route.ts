import { type ReadonlySignal, signal } from "@preact/signals";

/** A route within the page: the part of its address that is never sent to a server. */
export interface HashRoute {
  /** The decoded parts of the path; empty at the start. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Parses the fragment of an address, such as `#/tasks/ID?failed=1`; anything else is the start page. */
export function parseHashRoute(hash: string): HashRoute {
  const [path = "", query = ""] = hash.replace(/^#?\/*/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decodePart), query: new URLSearchParams(query) };
}

/** A malformed escape remains unchanged. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Builds the fragment of a route; members of the query without a value are omitted. */
export function formatHashRoute(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(name, value);
  }
  const parts = path.map(encodeURIComponent).join("/");
  return search.size === 0 ? `#/${parts}` : `#/${parts}?${search.toString()}`;
}

/** Returns the filters of a list that are set in a route's query. */
export function pickFilters(
  query: URLSearchParams,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const given = names.map((name) => [name, query.get(name) ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** Follows the fragment of the page's address. */
export function watchHashRoute(): ReadonlySignal<HashRoute> {
  const route = signal(parseHashRoute(location.hash));
  addEventListener("hashchange", () => (route.value = parseHashRoute(location.hash)));
  return route;
}
