import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import { jsonMember } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";
import { levelIndex } from "../../trust/levels.ts";

/** An agent with its listing and trust figures, as one reader sees it. */
export interface ProfileRow {
  readonly agent_id: string;
  readonly public_key: string | null;
  readonly endpoint_url: string | null;
  readonly capabilities: string;
  readonly metadata: string;
  readonly registered: 0 | 1;
  readonly last_seen_at: number;
  readonly unreachable_at: number | null;
  readonly listing: string | null;
  /** The reader's own record of the agent; all null without one. */
  readonly own_level: number | null;
  readonly own_successes: number | null;
  readonly own_failures: number | null;
  readonly own_latency_ms: number | null;
  /** The level that the fees of its payers back; null while fewer than two paid for its work. */
  readonly payers_level: number | null;
  /** Counts over the paid tasks of all payers; null when there are none. */
  readonly paid_successes: number | null;
  readonly paid_failures: number | null;
  readonly paid_latency_ms: number | null;
}

/** Compares stored sums with twice the full weight of a word; the test is `selectBackedLevel`. */
const isBacked = (level: "verified" | "trusted") => {
  const backing = sql.ref(`paid.${level}_backing`);
  const threshold = sql`(select ${sql.ref(level)} from trust_thresholds)`;
  return sql`${backing} >= 2 * ${threshold} and ${backing} >= 2`;
};
const payersLevel = sql<number | null>`(case
  when ${isBacked("trusted")} then ${sql.lit(levelIndex("trusted"))}
  when ${isBacked("verified")} then ${sql.lit(levelIndex("verified"))}
  when paid.first_contact_backing >= 2 then ${sql.lit(levelIndex("first_contact"))} end)`;

export const allAgents = queryBuilder.selectFrom("agents");

/** Selects the agents with a capability, by agent id, reading no other agents. */
export const agentsWithCapability = queryBuilder.selectFrom((from) =>
  from
    .selectFrom(["agent_capabilities as offered", "agents"])
    // The id is selected from the ordered index; otherwise SQLite would sort all rows first.
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
      "agents.unreachable_at",
      "agents.revoked_at",
      // As the id, the place is selected from the ordered index.
      "offered.place",
    ])
    .whereRef("agents.agent_id", "=", "offered.agent_id")
    .where("offered.capability", "=", param("capability"))
    .as("agents"),
);

export const selectProfiles = (agents: typeof allAgents) =>
  agents
    .leftJoin("listings", "listings.agent_id", "agents.agent_id")
    .leftJoin("trust_records as own", (join) =>
      join
        .onRef("own.remote_agent_id", "=", "agents.agent_id")
        .on("own.agent_id", "=", param("reader")),
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
      "agents.unreachable_at",
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

interface ProfilePageQuery {
  readonly capability: string;
  /** Only agents with a greater id. */
  readonly after: string;
  readonly limit: number;
}

const profilePage = compile<ProfilePageQuery & { reader: string }>()(
  selectProfiles(agentsWithCapability)
    .where("agents.agent_id", ">", param("after"))
    .orderBy("agents.agent_id")
    .limit(param("limit")),
);

/** Lists agents with a capability, by registration or by listing, as a stranger sees them. */
export function listProfilePage(read: Reader, query: ProfilePageQuery): Promise<ProfileRow[]> {
  return read.all(profilePage, { ...query, reader: "" });
}

const profileByAgent = compile<{ reader: string; agent_id: string }>()(
  selectProfiles(allAgents).where("agents.agent_id", "=", param("agent_id")),
);

export function findProfile(
  read: Reader,
  query: { reader: string; agent_id: string },
): Promise<ProfileRow | undefined> {
  return read.get(profileByAgent, query);
}

/** Selects the agents that discovery finds: registered ones, and those with only a listing. */
export const isDiscoverable = sql<boolean>`(agents.registered = 1 or listings.agent_id is not null)`;

/**
 * The owner's choice or, without one, whether the agent offers a service. A listing alone does not make an
 * agent visible that calls itself personal (specification, "Visibility").
 */
const agentType = sql<string>`coalesce(${jsonMember("agents.metadata", "agent_type")}, '')`;
export const isFederationVisible = sql<boolean>`(case
  when agents.federation_visible is not null then agents.federation_visible = 1
  else ${agentType} <> 'personal' and (listings.agent_id is not null or ${agentType} = 'service') end)`;

const visibleProfileByAgent = compile<{ reader: string; agent_id: string }>()(
  selectProfiles(allAgents)
    .where("agents.agent_id", "=", param("agent_id"))
    .where(isDiscoverable)
    .where(isFederationVisible),
);

/** Finds an agent if it is visible to other relays. */
export function findVisibleProfile(
  read: Reader,
  query: { reader: string; agent_id: string },
): Promise<ProfileRow | undefined> {
  return read.get(visibleProfileByAgent, query);
}

const visibleAgentCount = compile()(
  sql<{ count: number }>`
    select count(*) as count from agents left join listings using (agent_id)
    where ${isDiscoverable} and agents.revoked_at is null and ${isFederationVisible}`,
);

/** Counts the agents that are visible to other relays; reads all of them. */
export async function countVisibleAgents(read: Reader): Promise<number> {
  return (await read.get(visibleAgentCount, {}))?.count ?? 0;
}
