import { limits } from "@agent/wire";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";
import { everybody, isFound, providers, visible } from "./profile-store.ts";

export interface Search {
  /** The words as `wordsIn` makes them, not empty. */
  readonly words: string;
  /** What was asked for, which may also be an agent's id where peers ask. */
  readonly text: string;
  readonly scope: "all" | "visible";
  /** Empty: any. */
  readonly capability: string;
  /** The cursor key of the page; empty: the first one. */
  readonly after: string;
  readonly limit: number;
}

/**
 * The agents whose texts contain all the words, those that contain them in more places first, then by
 * id. The agents are ranked within sections of 10,000 by id, because what they say is looked through
 * one by one: a page never looks at more than one section, and the next section follows when a section
 * has no more matches.
 */
export async function searchAgents(
  read: Reader,
  search: Search,
): Promise<{ readonly ids: string[]; readonly next: string | undefined }> {
  const kind = search.capability === "" ? "any" : "one";
  const place = placeOf(search.after);
  const end = (await read.get(sectionEnd[kind], { ...search, ...place }))?.agent_id ?? PAST_ALL;
  // A cursor comes from outside: it can shorten a section, but not make it longer.
  const until = place.until !== undefined && place.until < end ? place.until : end;
  const query = { ...search, ...place, until };
  const rows = await read.all(ranked[search.scope][kind], query);
  const last = rows.at(-1);
  const next =
    rows.length === search.limit && last !== undefined
      ? [place.start, until, last.rank, last.agent_id].join(SEPARATOR)
      : until === PAST_ALL
        ? undefined
        : until;
  return { ids: rows.map(({ agent_id }) => agent_id), next };
}

/** Above every agent id. */
const PAST_ALL = "~";
const SEPARATOR = "/";

interface Place {
  /** The section begins behind this agent and ends with `until`, if that is known already. */
  readonly start: string;
  readonly until: string | undefined;
  /** The last match that was shown: its rank and its id. */
  readonly rank: number;
  readonly behind: string;
}

/** A cursor key names a place within a section, or only the agent behind which a section begins. */
function placeOf(after: string): Place {
  const [start = "", until, rank, behind] = after.split(SEPARATOR);
  return behind === undefined
    ? { start, until: undefined, rank: Number.MAX_SAFE_INTEGER, behind: "" }
    : { start, until, rank: Number(rank), behind };
}

/** What an agent says of itself in words; the names of its JSON members are not among them. */
const fields = sql`agents.metadata ->> '$.name', agents.metadata ->> '$.description',
  listings.body ->> '$.description', agents.capabilities, listings.body ->> '$.capabilities'`;

const textRank = sql<number>`text_rank(${p("words")}, ${fields})`;
const idOrTextRank = sql<number>`iif(agents.agent_id = ${p("text")}, 9, ${textRank})`;

type Bounded = Omit<Search, "scope" | "after"> & Place & { readonly until: string };

/** Every agent of a section with its rank; the limit keeps SQLite from ranking one several times. */
const sectionOf = (agents: typeof everybody, rank: typeof textRank, condition = isFound) =>
  agents
    .leftJoin("listings", "listings.agent_id", "agents.agent_id")
    .select(["agents.agent_id", rank.as("rank")])
    .where("agents.revoked_at", "is", null)
    .where("agents.agent_id", ">", p("start"))
    .where("agents.agent_id", "<=", p("until"))
    .where(isFound)
    .where(condition)
    .limit(limits.searchedAgents)
    .as("section");

const pageOf = (section: ReturnType<typeof sectionOf>) =>
  db
    .selectFrom(section)
    .select(["agent_id", "rank"])
    .where("rank", ">", 0)
    .where(
      sql<boolean>`(rank < ${p("rank")} or (rank = ${p("rank")} and agent_id > ${p("behind")}))`,
    )
    .orderBy("rank", "desc")
    .orderBy("agent_id")
    .limit(p("limit"));

const ranked = {
  all: {
    any: prepare<Omit<Bounded, "capability" | "text">>()(pageOf(sectionOf(everybody, textRank))),
    one: prepare<Omit<Bounded, "text">>()(pageOf(sectionOf(providers, textRank))),
  },
  visible: {
    any: prepare<Omit<Bounded, "capability">>()(
      pageOf(sectionOf(everybody, idOrTextRank, visible)),
    ),
    one: prepare<Bounded>()(pageOf(sectionOf(providers, idOrTextRank, visible))),
  },
};

/** The last agent of a section, if there are agents behind it. */
const sectionEnd = {
  any: prepare<{ start: string }>()(
    db
      .selectFrom("agents")
      .select("agent_id")
      .where("agent_id", ">", p("start"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
  one: prepare<{ start: string; capability: string }>()(
    db
      .selectFrom("agent_capabilities")
      .select("agent_id")
      .where("capability", "=", p("capability"))
      .where("agent_id", ">", p("start"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
};
