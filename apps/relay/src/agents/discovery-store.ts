import { p, prepare, sql, type Query } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";
import { wordsIn } from "../storage/text-rank.ts";
import {
  everybody,
  isFound,
  profilesOf,
  providers,
  visible,
  type ProfileRow,
} from "./profile-store.ts";
import { searchAgents } from "./search-store.ts";

/** A page of agents, and the cursor key of the next page; undefined: there is none. */
export interface Found {
  readonly rows: ProfileRow[];
  readonly next: string | undefined;
}

export interface DiscoverQuery {
  readonly reader: string;
  /** Empty: any. */
  readonly capability: string;
  /** Words that must all occur; empty: any. */
  readonly text: string;
  readonly after: string;
  readonly limit: number;
}

const pageOf = (agents: typeof everybody) =>
  profilesOf(agents)
    .where(isFound)
    .where("agents.agent_id", ">", p("after"))
    .orderBy("agents.agent_id")
    .limit(p("limit"));

/** A query for any capability, and the same for one. */
interface Pair<P, Row> {
  readonly any: Query<P, Row>;
  readonly one: Query<P, Row>;
}

const discovered: Pair<DiscoverQuery, ProfileRow> = {
  any: prepare<Omit<DiscoverQuery, "capability" | "text">>()(pageOf(everybody)),
  one: prepare<Omit<DiscoverQuery, "text">>()(pageOf(providers)),
};

const shown: typeof discovered = {
  any: prepare<Omit<DiscoverQuery, "capability" | "text">>()(pageOf(everybody).where(visible)),
  one: prepare<Omit<DiscoverQuery, "text">>()(pageOf(providers).where(visible)),
};

/** The same of those agents only that other relays may know of; a text may also be an agent id. */
export function visibleProfiles(read: Reader, query: DiscoverQuery): Promise<Found> {
  return findProfiles(read, query, shown);
}

/** A page of the discovery registry: by agent id, or by how well agents match a text. */
export function discoverProfiles(read: Reader, query: DiscoverQuery): Promise<Found> {
  return findProfiles(read, query, discovered);
}

async function findProfiles(
  read: Reader,
  query: DiscoverQuery,
  page: typeof discovered,
): Promise<Found> {
  const words = wordsIn(query.text);
  if (words !== "") {
    const scope = page === shown ? "visible" : "all";
    const { ids, next } = await searchAgents(read, { ...query, words, scope });
    const rows = await read.all(ofIds, { reader: query.reader, ids: JSON.stringify(ids) });
    const found = new Map(rows.map((row) => [row.agent_id, row]));
    return { rows: ids.flatMap((id) => found.get(id) ?? []), next };
  }
  const rows = await read.all(page[query.capability === "" ? "any" : "one"], query);
  return { rows, next: rows.length < query.limit ? undefined : rows.at(-1)?.agent_id };
}

const ofIds = prepare<{ reader: string; ids: string }>()(
  profilesOf(everybody).where(
    sql<boolean>`agents.agent_id in (select value from json_each(${p("ids")}))`,
  ),
);
