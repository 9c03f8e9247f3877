import { limits } from "@agent/wire";
import { db, p, prepare, sql, type Query } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";

/** An agent with its listing and what its history says, as one reader sees it. */
export interface ProfileRow {
  readonly agent_id: string;
  readonly public_key: string | null;
  readonly endpoint_url: string | null;
  readonly capabilities: string;
  readonly metadata: string;
  readonly registered: 0 | 1;
  readonly last_seen_at: number;
  readonly listing: string | null;
  /** The reader's own record of the agent; all null without one. */
  readonly own_level: number | null;
  readonly own_successes: number | null;
  readonly own_failures: number | null;
  readonly own_latency_ms: number | null;
  /** The best level that at least two payers hold. */
  readonly payers_level: number | null;
  /** Tasks at a price, of all payers; null without any. */
  readonly paid_successes: number | null;
  readonly paid_failures: number | null;
  readonly paid_latency_ms: number | null;
}

/** Sorting the payers' levels, the second one is a level that at least two of them reach. */
const payersLevel = sql<number | null>`(
  select trust_level from trust_records
  where remote_agent_id = agents.agent_id and paid_tasks > 0
  order by trust_level desc limit 1 offset 1)`;

const everybody = db.selectFrom("agents");

/** Those who have a capability, by agent id and without looking at anybody else. */
const providers = db.selectFrom((from) =>
  from
    .selectFrom(["agent_capabilities as offered", "agents"])
    // The id comes from where the order is, or all would be sorted first.
    .select([
      "offered.agent_id",
      "agents.public_key",
      "agents.endpoint_url",
      "agents.capabilities",
      "agents.metadata",
      "agents.federation_visible",
      "agents.registered",
      "agents.created_at",
      "agents.last_seen_at",
      "agents.revoked_at",
    ])
    .whereRef("agents.agent_id", "=", "offered.agent_id")
    .where("offered.capability", "=", p("capability"))
    .as("agents"),
);

const profilesOf = (agents: typeof everybody) =>
  agents
    .leftJoin("listings", "listings.agent_id", "agents.agent_id")
    .leftJoin("trust_records as own", (join) =>
      join
        .onRef("own.remote_agent_id", "=", "agents.agent_id")
        .on("own.agent_id", "=", p("reader")),
    )
    .leftJoin("agent_histories as paid", "paid.agent_id", "agents.agent_id")
    .select([
      "agents.agent_id",
      "agents.public_key",
      "agents.endpoint_url",
      "agents.capabilities",
      "agents.metadata",
      "agents.registered",
      "agents.last_seen_at",
      "listings.body as listing",
      "own.trust_level as own_level",
      "own.successful_tasks as own_successes",
      "own.failed_tasks as own_failures",
      "own.avg_latency_ms as own_latency_ms",
      payersLevel.as("payers_level"),
      "paid.successful_tasks as paid_successes",
      "paid.failed_tasks as paid_failures",
      "paid.latency_total_ms as paid_latency_ms",
    ])
    .where("agents.revoked_at", "is", null);

const ofCapability = prepare<{ reader: string; capability: string }>()(profilesOf(providers));

/** Everybody who has a capability, by registration or by listing; `reader` may be empty. */
export function profilesWith(
  read: Reader,
  query: { reader: string; capability: string },
): Promise<ProfileRow[]> {
  return read.all(ofCapability, query);
}

const oneProfile = prepare<{ reader: string; agent_id: string }>()(
  profilesOf(everybody).where("agents.agent_id", "=", p("agent_id")),
);

export function profileOf(
  read: Reader,
  query: { reader: string; agent_id: string },
): Promise<ProfileRow | undefined> {
  return read.get(oneProfile, query);
}

/** Those of a page, and how far it came; undefined: to the end, or as far as it has rows. */
export interface Found {
  readonly rows: ProfileRow[];
  readonly stoppedAt: string | undefined;
}

export interface DiscoverQuery {
  readonly reader: string;
  /** Empty: any. */
  readonly capability: string;
  /** Case is looked over in ASCII; empty: any. */
  readonly text: string;
  readonly after: string;
  readonly limit: number;
}

/** What an agent says of itself in words; the names of its JSON members are not among them. */
const described = sql`concat_ws(char(10), agents.metadata ->> '$.name',
  agents.metadata ->> '$.description', listings.body ->> '$.description', agents.capabilities,
  listings.body ->> '$.capabilities')`;

const mentions = sql<boolean>`instr(lower(${described}), lower(${p("text")})) > 0`;

const pageOf = (agents: typeof everybody, answers: typeof mentions) =>
  profilesOf(agents)
    .where("agents.registered", "=", 1)
    .where("agents.agent_id", ">", p("after"))
    .where("agents.agent_id", "<=", p("until"))
    .where(sql<boolean>`(${p("text")} = '' or ${answers})`)
    .orderBy("agents.agent_id")
    .limit(p("limit"));

type Bounded = DiscoverQuery & { readonly until: string };

/** A query for any capability, and the same for one. */
interface Pair<P, Row> {
  readonly any: Query<P, Row>;
  readonly one: Query<P, Row>;
}

const discovered: Pair<Bounded, ProfileRow> = {
  any: prepare<Omit<Bounded, "capability">>()(pageOf(everybody, mentions)),
  one: prepare<Bounded>()(pageOf(providers, mentions)),
};

/**
 * What its owner said, else whether it offers a service. An agent that calls itself personal is not
 * shown because of a listing alone (specification, "Visibility").
 */
const agentType = sql<string>`coalesce(agents.metadata ->> '$.agent_type', '')`;
const visible = sql<boolean>`coalesce(agents.federation_visible,
  ${agentType} <> 'personal' and (listings.agent_id is not null or ${agentType} = 'service'))`;

const isOrMentions = sql<boolean>`agents.agent_id = ${p("text")} or ${mentions}`;

const shown: Pair<Bounded, ProfileRow> = {
  any: prepare<Omit<Bounded, "capability">>()(pageOf(everybody, isOrMentions).where(visible)),
  one: prepare<Bounded>()(pageOf(providers, isOrMentions).where(visible)),
};

/** The same of those agents only that other relays may know of; a text may also be an agent id. */
export function visibleProfiles(read: Reader, query: DiscoverQuery): Promise<Found> {
  return findProfiles(read, query, shown);
}

const oneShown = prepare<{ reader: string; agent_id: string }>()(
  profilesOf(everybody)
    .where("agents.agent_id", "=", p("agent_id"))
    .where("agents.registered", "=", 1)
    .where(visible),
);

/** The agent, if other relays may know of it. */
export function visibleProfile(
  read: Reader,
  query: { reader: string; agent_id: string },
): Promise<ProfileRow | undefined> {
  return read.get(oneShown, query);
}

const countShown = prepare()(
  sql<{ count: number }>`
    select count(*) as count from agents left join listings using (agent_id)
    where agents.registered = 1 and agents.revoked_at is null and ${visible}`,
);

/** How many agents other relays may know of; looks at all. */
export async function countVisible(read: Reader): Promise<number> {
  return (await read.get(countShown, {}))?.count ?? 0;
}

/** A page of the discovery registry, by agent id. */
export function discoverProfiles(read: Reader, query: DiscoverQuery): Promise<Found> {
  return findProfiles(read, query, discovered);
}

/** Above every agent id. */
const pastAll = "~";

/** The last agent that is looked through for a text, if there are more. */
const searched: Pair<Bounded, { agent_id: string }> = {
  any: prepare<{ after: string }>()(
    db
      .selectFrom("agents")
      .select("agent_id")
      .where("agent_id", ">", p("after"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
  one: prepare<{ after: string; capability: string }>()(
    db
      .selectFrom("agent_capabilities")
      .select("agent_id")
      .where("capability", "=", p("capability"))
      .where("agent_id", ">", p("after"))
      .orderBy("agent_id")
      .limit(1)
      .offset(limits.searchedAgents - 1),
  ),
};

/** What agents say is looked through for a text one by one, so that a page ends after so many. */
async function findProfiles(
  read: Reader,
  query: DiscoverQuery,
  page: Pair<Bounded, ProfileRow>,
): Promise<Found> {
  const capability = query.capability === "" ? "any" : "one";
  const unbounded = { ...query, until: pastAll };
  const last = query.text === "" ? undefined : await read.get(searched[capability], unbounded);
  const until = last?.agent_id ?? pastAll;
  const rows = await read.all(page[capability], { ...query, until });
  return { rows, stoppedAt: rows.length < query.limit ? last?.agent_id : undefined };
}
