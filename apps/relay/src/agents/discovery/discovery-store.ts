import { param, compile, sql, type Query } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";
import { parseSearchWords } from "../../storage/queries/text-rank.ts";
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

const selectPage = (agents: typeof allAgents) =>
  selectProfiles(agents)
    .where(isDiscoverable)
    .where("agents.agent_id", ">", param("after"))
    .orderBy("agents.agent_id")
    .limit(param("limit"));

/** The same query for any capability and for a given one. */
interface QueryPair<P, Row> {
  readonly any: Query<P, Row>;
  readonly one: Query<P, Row>;
}

const allAgentQueries: QueryPair<DiscoverQuery, ProfileRow> = {
  any: compile<Omit<DiscoverQuery, "capability" | "text">>()(selectPage(allAgents)),
  one: compile<Omit<DiscoverQuery, "text">>()(selectPage(agentsWithCapability)),
};

const visibleAgentQueries: typeof allAgentQueries = {
  any: compile<Omit<DiscoverQuery, "capability" | "text">>()(
    selectPage(allAgents).where(isFederationVisible),
  ),
  one: compile<Omit<DiscoverQuery, "text">>()(
    selectPage(agentsWithCapability).where(isFederationVisible),
  ),
};

/** Searches only agents that other relays may know of; the text may also be an agent id. */
export function listVisibleProfiles(read: Reader, query: DiscoverQuery): Promise<ProfilePage> {
  return listProfilesBy(read, query, visibleAgentQueries);
}

/** Lists a page of the discovery registry, ordered by agent id or by how well agents match a text. */
export function listProfiles(read: Reader, query: DiscoverQuery): Promise<ProfilePage> {
  return listProfilesBy(read, query, allAgentQueries);
}

async function listProfilesBy(
  read: Reader,
  query: DiscoverQuery,
  page: typeof allAgentQueries,
): Promise<ProfilePage> {
  const words = parseSearchWords(query.text);
  if (words !== "") {
    const scope = page === visibleAgentQueries ? "visible" : "all";
    const { ids, next } = await searchAgents(read, { ...query, words, scope });
    const rows = await read.all(profilesByIds, { reader: query.reader, ids: JSON.stringify(ids) });
    const found = new Map(rows.map((row) => [row.agent_id, row]));
    return { rows: ids.flatMap((id) => found.get(id) ?? []), next };
  }
  const rows = await read.all(page[query.capability === "" ? "any" : "one"], query);
  return { rows, next: rows.length < query.limit ? undefined : rows.at(-1)?.agent_id };
}

const profilesByIds = compile<{ reader: string; ids: string }>()(
  selectProfiles(allAgents).where(sql<boolean>`agents.agent_id in ${jsonTexts(param("ids"))}`),
);
