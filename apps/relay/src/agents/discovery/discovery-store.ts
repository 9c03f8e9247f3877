import { param, compile, sql, type Query } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import { countToRead, cutPage } from "../../http/paging/cut-page.ts";
import type { Reader } from "../../storage/storage.ts";
import { parseSearchWords } from "../../storage/queries/text-rank.ts";
import { countNewcomerPlaces } from "./places/place.ts";
import {
  formatPosition,
  parsePosition,
  PLACE_RANGES,
  type RangeQuery,
} from "./places/page-position.ts";
import {
  allAgents,
  isDiscoverable,
  selectProfiles,
  agentsWithCapability,
  isFederationVisible,
  type ProfileRow,
} from "./profile-store.ts";
import { searchAgents } from "./search-store.ts";

/** A page of agents with the cursor key of the next page, which is undefined on the last page. */
export interface ProfilePage {
  readonly rows: ProfileRow[];
  readonly next: string | undefined;
}

export interface DiscoverQuery {
  readonly reader: string;
  /** An empty list matches any. */
  readonly capability: string;
  /** Words that must all occur; an empty list matches any text. */
  readonly text: string;
  readonly after: string;
  readonly limit: number;
}

type RangeSearch = DiscoverQuery & RangeQuery;

/** The agents that were found in a range of places. */
interface FoundAgents {
  readonly rows: readonly { readonly row: ProfileRow; readonly cursor: string }[];
  /** The cursor key behind all of them; undefined at the end of the range. */
  readonly next: string | undefined;
}

type PlacedRow = ProfileRow & { readonly place: string };

const selectPage = (agents: typeof allAgents) =>
  selectProfiles(agents)
    .select("agents.place")
    .where(isDiscoverable)
    .where("agents.place", ">", param("after"))
    .where("agents.place", "<", param("end"))
    .orderBy("agents.place")
    .limit(param("limit"));

/** The same query for any capability and for a given one. */
interface QueryPair<P, Row> {
  readonly any: Query<P, Row>;
  readonly one: Query<P, Row>;
}

const allAgentQueries: QueryPair<RangeSearch, PlacedRow> = {
  any: compile<Omit<RangeSearch, "capability" | "text">>()(selectPage(allAgents)),
  one: compile<Omit<RangeSearch, "text">>()(selectPage(agentsWithCapability)),
};

const visibleAgentQueries: typeof allAgentQueries = {
  any: compile<Omit<RangeSearch, "capability" | "text">>()(
    selectPage(allAgents).where(isFederationVisible),
  ),
  one: compile<Omit<RangeSearch, "text">>()(
    selectPage(agentsWithCapability).where(isFederationVisible),
  ),
};

/** Searches only agents that are visible to other relays; the text may also be an agent id. */
export function listVisibleProfiles(read: Reader, query: DiscoverQuery): Promise<ProfilePage> {
  return listProfilesBy(read, query, visibleAgentQueries);
}

/**
 * Lists a page of the discovery registry: agents with fees by their places, or by how well agents of equal
 * fees match a text, and some newcomers (docs/decisions.md, 3).
 */
export function listProfiles(read: Reader, query: DiscoverQuery): Promise<ProfilePage> {
  return listProfilesBy(read, query, allAgentQueries);
}

async function listProfilesBy(
  read: Reader,
  query: DiscoverQuery,
  page: typeof allAgentQueries,
): Promise<ProfilePage> {
  const { limit } = query;
  const position = parsePosition(query.after);
  const find = (range: "withFees" | "newcomers", most: number): Promise<FoundAgents> => {
    const after = position[range];
    if (after === undefined) return Promise.resolve({ rows: [], next: undefined });
    return findInRange(read, { ...query, ...PLACE_RANGES[range], after, limit: most }, page);
  };
  const withFees = await find("withFees", limit);
  const newcomers = await find("newcomers", countNewcomerPlaces(limit, withFees.rows.length));
  const shown = takeFirst(withFees, limit - newcomers.rows.length);
  return {
    rows: [...shown.rows, ...newcomers.rows].map(({ row }) => row),
    next: formatPosition({ withFees: shown.next, newcomers: newcomers.next }),
  };
}

/** Leaves out the agents behind the first `count`, which the next page begins with. */
function takeFirst(found: FoundAgents, count: number): FoundAgents {
  if (found.rows.length <= count) return found;
  const rows = found.rows.slice(0, count);
  return { rows, next: rows.at(-1)?.cursor };
}

async function findInRange(
  read: Reader,
  query: RangeSearch,
  page: typeof allAgentQueries,
): Promise<FoundAgents> {
  const words = parseSearchWords(query.text);
  if (words !== "") {
    const scope = page === visibleAgentQueries ? "visible" : "all";
    const { found, next } = await searchAgents(read, { ...query, words, scope });
    const ids = JSON.stringify(found.map(({ agent_id }) => agent_id));
    const profiles = await read.all(profilesByIds, { reader: query.reader, ids });
    const byId = new Map(profiles.map((row) => [row.agent_id, row]));
    const rows = found.flatMap(({ agent_id, cursor }) => {
      const row = byId.get(agent_id);
      return row === undefined ? [] : [{ row, cursor }];
    });
    return { rows, next };
  }
  const after = query.after > query.start ? query.after : query.start;
  const limit = countToRead(query.limit);
  const kind = query.capability === "" ? "any" : "one";
  const placed = await read.all(page[kind], { ...query, after, limit });
  const { rows, isLast } = cutPage(placed, query.limit);
  return {
    rows: rows.map(({ place, ...row }) => ({ row, cursor: place })),
    next: isLast ? undefined : (rows.at(-1)?.place ?? query.after),
  };
}

const profilesByIds = compile<{ reader: string; ids: string }>()(
  selectProfiles(allAgents).where(sql<boolean>`agents.agent_id in ${jsonTexts(param("ids"))}`),
);
