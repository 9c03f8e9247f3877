import { limits } from "@agent/wire";
import {
  queryBuilder,
  param,
  compile,
  sql,
  type RawBuilder,
} from "../../storage/queries/compiled-query.ts";
import { jsonMember } from "../../storage/queries/fragments.ts";
import { countToRead, cutPage } from "../../http/paging/cut-page.ts";
import type { Reader } from "../../storage/storage.ts";
import type { RangeQuery } from "./places/page-position.ts";
import {
  allAgents,
  isDiscoverable,
  agentsWithCapability,
  isFederationVisible,
} from "./profile-store.ts";

export interface AgentSearch extends RangeQuery {
  /** The words from `parseSearchWords`; never empty. */
  readonly words: string;
  /** The text of the query; in queries by peers it may also be an agent id. */
  readonly text: string;
  readonly scope: "all" | "visible";
  /** An empty list matches any. */
  readonly capability: string;
  /** The cursor key of the page; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** A page scans one section of each of the two ranges. */
const SECTION_SIZE = limits.searchedAgents / 2;

/** Agents that were found, each with the cursor key behind it, and the cursor key behind all. */
export interface FoundIds {
  readonly found: readonly { readonly agent_id: string; readonly cursor: string }[];
  readonly next: string | undefined;
}

/**
 * Lists the agents of a range whose texts contain all the words, by their fees, then by the number of
 * matches, then by id. Agents are ranked within sections of 5,000 by place, because their texts are scanned
 * one by one: a page scans at most one section of a range, and the next section follows when a section has
 * no more matches.
 */
export async function searchAgents(read: Reader, search: AgentSearch): Promise<FoundIds> {
  const kind = search.capability === "" ? "any" : "one";
  const place = parsePosition(search);
  const end =
    (await read.get(sectionEndQueries[kind], { ...search, ...place }))?.place ?? search.end;
  // The cursor is untrusted input: it can shorten a section but never extend it.
  const until = place.until !== undefined && place.until < end ? place.until : end;
  const query = { ...search, ...place, until, limit: countToRead(search.limit) };
  const ranked = await read.all(rankedQueries[search.scope][kind], query);
  const { rows, isLast } = cutPage(ranked, search.limit);
  const found = rows.map(({ agent_id, rank, place: behind }) => ({
    agent_id,
    cursor: [place.start, until, rank, behind].join(SEPARATOR),
  }));
  if (!isLast) return { found, next: found.at(-1)?.cursor ?? search.after };
  return { found, next: until === search.end ? undefined : until };
}

const SEPARATOR = "/";

interface SearchPosition {
  /** The section begins after this place and ends with `until`, once that is known. */
  readonly start: string;
  readonly until: string | undefined;
  /** Rank and place of the last match on the previous page. */
  readonly rank: number;
  readonly behind: string;
}

/** A cursor key names a position within a section, or only the place after which a section begins. */
function parsePosition({ after, start: first }: RangeQuery & { after: string }): SearchPosition {
  const [from = "", until, rank, behind] = after.split(SEPARATOR);
  const start = from > first ? from : first;
  return behind === undefined
    ? { start, until: undefined, rank: Number.MAX_SAFE_INTEGER, behind: "" }
    : { start, until, rank: Number(rank), behind };
}

/** Concatenates the texts of an agent's profile, without the names of its JSON members. */
const searchedFields = sql.join([
  jsonMember("agents.metadata", "name"),
  jsonMember("agents.metadata", "description"),
  jsonMember("listings.body", "description"),
  sql.ref("agents.capabilities"),
  jsonMember("listings.body", "capabilities"),
]);

const textRank = sql<number>`text_rank(${param("words")}, ${searchedFields})`;
const idOrTextRank = sql<number>`case when agents.agent_id = ${param("text")} then 9 else ${textRank} end`;

type SectionSearch = Omit<AgentSearch, "scope" | "after"> &
  SearchPosition & { readonly until: string };

/** Ranks every agent of a section; the limit keeps SQLite from ranking an agent several times. */
const selectSection = (
  agents: typeof allAgents,
  rank: typeof textRank,
  condition = isDiscoverable,
) =>
  agents
    .leftJoin("listings", "listings.agent_id", "agents.agent_id")
    .select(["agents.agent_id", "agents.place", rank.as("rank")])
    .where("agents.revoked_at", "is", null)
    .where("agents.place", ">", param("start"))
    .where("agents.place", "<=", param("until"))
    .where(isDiscoverable)
    .where(condition)
    .limit(SECTION_SIZE)
    .as("section");

/** The part of a place that encodes the fees. */
const feesOf = (place: RawBuilder<unknown>) => sql<string>`substr(${place}, 1, 2)`;
const fees = feesOf(sql.ref("place"));
const feesBehind = feesOf(sql`${param("behind")}`);

const selectPage = (section: ReturnType<typeof selectSection>) =>
  queryBuilder
    .selectFrom(section)
    .select(["agent_id", "place", "rank"])
    .where("rank", ">", 0)
    .where(
      sql<boolean>`(${fees} > ${feesBehind} or (${fees} = ${feesBehind} and (rank < ${param("rank")}
        or (rank = ${param("rank")} and place > ${param("behind")}))))`,
    )
    .orderBy(fees)
    .orderBy("rank", "desc")
    .orderBy("place")
    .limit(param("limit"));

const rankedQueries = {
  all: {
    any: compile<Omit<SectionSearch, "capability" | "text">>()(
      selectPage(selectSection(allAgents, textRank)),
    ),
    one: compile<Omit<SectionSearch, "text">>()(
      selectPage(selectSection(agentsWithCapability, textRank)),
    ),
  },
  visible: {
    any: compile<Omit<SectionSearch, "capability">>()(
      selectPage(selectSection(allAgents, idOrTextRank, isFederationVisible)),
    ),
    one: compile<SectionSearch>()(
      selectPage(selectSection(agentsWithCapability, idOrTextRank, isFederationVisible)),
    ),
  },
};

/** Finds the last agent of a section, if more agents of the range follow it. */
const sectionEndQueries = {
  any: compile<RangeQuery>()(
    queryBuilder
      .selectFrom("agents")
      .select("place")
      .where("place", ">", param("start"))
      .where("place", "<", param("end"))
      .orderBy("place")
      .limit(1)
      .offset(SECTION_SIZE - 1),
  ),
  one: compile<RangeQuery & { capability: string }>()(
    queryBuilder
      .selectFrom("agent_capabilities")
      .select("place")
      .where("capability", "=", param("capability"))
      .where("place", ">", param("start"))
      .where("place", "<", param("end"))
      .orderBy("place")
      .limit(1)
      .offset(SECTION_SIZE - 1),
  ),
};
