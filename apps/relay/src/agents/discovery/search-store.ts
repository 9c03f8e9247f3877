import { limits } from "@agent/wire";
import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import { jsonMember } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";
import {
  allAgents,
  isDiscoverable,
  agentsWithCapability,
  isFederationVisible,
} from "./profile-store.ts";

export interface AgentSearch {
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

/**
 * Lists the agents whose texts contain all the words, those with more matches first, then by
 * id. Agents are ranked within sections of 10,000 by id, because their texts are scanned
 * one by one: a page never scans more than one section, and the next section follows when a section
 * has no more matches.
 */
export async function searchAgents(
  read: Reader,
  search: AgentSearch,
): Promise<{ readonly ids: string[]; readonly next: string | undefined }> {
  const kind = search.capability === "" ? "any" : "one";
  const place = parsePosition(search.after);
  const end =
    (await read.get(sectionEndQueries[kind], { ...search, ...place }))?.agent_id ?? PAST_ALL;
  // The cursor is untrusted input: it can shorten a section but never extend it.
  const until = place.until !== undefined && place.until < end ? place.until : end;
  const query = { ...search, ...place, until };
  const rows = await read.all(rankedQueries[search.scope][kind], query);
  const last = rows.at(-1);
  const next =
    rows.length === search.limit && last !== undefined
      ? [place.start, until, last.rank, last.agent_id].join(SEPARATOR)
      : until === PAST_ALL
        ? undefined
        : until;
  return { ids: rows.map(({ agent_id }) => agent_id), next };
}

/** A text that sorts after every agent id. */
const PAST_ALL = "~";
const SEPARATOR = "/";

interface SearchPosition {
  /** The section begins after this agent and ends with `until`, once that is known. */
  readonly start: string;
  readonly until: string | undefined;
  /** Rank and id of the last match on the previous page. */
  readonly rank: number;
  readonly behind: string;
}

/** A cursor key names a position within a section, or only the agent after which a section begins. */
function parsePosition(after: string): SearchPosition {
  const [start = "", until, rank, behind] = after.split(SEPARATOR);
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
    .select(["agents.agent_id", rank.as("rank")])
    .where("agents.revoked_at", "is", null)
    .where("agents.agent_id", ">", param("start"))
    .where("agents.agent_id", "<=", param("until"))
    .where(isDiscoverable)
    .where(condition)
    .limit(limits.searchedAgents)
    .as("section");

const selectPage = (section: ReturnType<typeof selectSection>) =>
  queryBuilder
    .selectFrom(section)
    .select(["agent_id", "rank"])
    .where("rank", ">", 0)
    .where(
      sql<boolean>`(rank < ${param("rank")} or (rank = ${param("rank")} and agent_id > ${param("behind")}))`,
    )
    .orderBy("rank", "desc")
    .orderBy("agent_id")
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

/** Finds the last agent of a section, if more agents follow it. */
const sectionEndQueries = {
  any: compile<{ start: string }>()(
    queryBuilder
      .selectFrom("agents")
      .select("agent_id")
      .where("agent_id", ">", param("start"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
  one: compile<{ start: string; capability: string }>()(
    queryBuilder
      .selectFrom("agent_capabilities")
      .select("agent_id")
      .where("capability", "=", param("capability"))
      .where("agent_id", ">", param("start"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
};
