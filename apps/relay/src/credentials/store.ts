import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { jsonTexts } from "../storage/queries/fragments.ts";
import { matchesIfGiven } from "../storage/queries/matches-if-given.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { CredentialRow } from "../storage/tables/credentials.ts";

/** The statements of one issuer about one agent and subject; only the newest is presented. */
export type CredentialSeries = Pick<CredentialRow, "agent_id" | "issuer" | "type" | "delegator_id">;

/** A credential before it is stored. */
export type NewCredential = Omit<
  CredentialRow,
  "sequence" | "current" | "revoked_at" | "revoked_reason"
>;

const credentialById = compile<{ credential_id: string }>()(
  queryBuilder
    .selectFrom("credentials")
    .selectAll()
    .where("credential_id", "=", param("credential_id")),
);

export function findCredential(
  read: Reader,
  credential_id: string,
): Promise<CredentialRow | undefined> {
  return read.get(credentialById, { credential_id });
}

const credentialByTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("credentials")
    .select("credential_id")
    .where("task_id", "is not", null)
    .where("task_id", "=", param("task_id")),
);

/** Finds the id of the credential that was issued for a task. */
export async function findCredentialIdByTask(
  read: Reader,
  task_id: string,
): Promise<string | undefined> {
  return (await read.get(credentialByTask, { task_id }))?.credential_id;
}

const newestOfSeries = compile<CredentialSeries>()(
  queryBuilder
    .selectFrom("credentials")
    .select("issued_at")
    .where("agent_id", "=", param("agent_id"))
    .where("issuer", "=", param("issuer"))
    .where("type", "=", param("type"))
    .where("delegator_id", "=", param("delegator_id"))
    .where("current", "=", 1),
);

const endSeriesQuery = compile<CredentialSeries>()(
  queryBuilder
    .updateTable("credentials")
    .set({ current: 0 })
    .where("agent_id", "=", param("agent_id"))
    .where("issuer", "=", param("issuer"))
    .where("type", "=", param("type"))
    .where("delegator_id", "=", param("delegator_id"))
    .where("current", "=", 1),
);

const insertCredentialQuery = compile<NewCredential & Pick<CredentialRow, "current">>()(
  queryBuilder.insertInto("credentials").values({
    ...params(
      "agent_id",
      "credential_id",
      "type",
      "issuer",
      "delegator_id",
      "task_id",
      "body",
      "issued_at",
      "expires_at",
      "current",
    ),
    sequence: sql`(select coalesce(max(sequence), 0) + 1 from credentials
      where agent_id = ${param("agent_id")})`,
    revoked_at: null,
    revoked_reason: null,
  }),
);

/** Supersedes an issuer's statement, because another issuer replaces it. */
export async function endCredentialSeries(tx: Tx, line: CredentialSeries): Promise<void> {
  await tx.run(endSeriesQuery, line);
}

/** Saves a credential; it replaces its issuer's previous one, never a later one. */
export async function insertCredential(tx: Tx, credential: NewCredential): Promise<void> {
  const before = await tx.get(newestOfSeries, credential);
  const isNewest = before === undefined || before.issued_at <= credential.issued_at;
  if (isNewest && before !== undefined) await tx.run(endSeriesQuery, credential);
  await tx.run(insertCredentialQuery, { ...credential, current: isNewest ? 1 : 0 });
}

type ReplacedCredentials = Pick<CredentialRow, "agent_id" | "type"> & { readonly now: number };

const purgeReplacedQuery = compile<ReplacedCredentials>()(
  queryBuilder
    .deleteFrom("credentials")
    .where("agent_id", "=", param("agent_id"))
    .where("type", "=", param("type"))
    .where("current", "=", 0)
    .where("revoked_at", "is", null)
    .where("expires_at", "<", param("now")),
);

/** Purges superseded credentials that have expired; revoked ones stay known as revoked. */
export async function purgeReplaced(tx: Tx, replaced: ReplacedCredentials): Promise<void> {
  await tx.run(purgeReplacedQuery, replaced);
}

interface CredentialPage {
  readonly agent_id: string;
  readonly before: number;
  readonly limit: number;
}

const newestFirst = queryBuilder
  .selectFrom("credentials")
  .selectAll()
  .where("agent_id", "=", param("agent_id"))
  .where("sequence", "<", param("before"))
  .orderBy("sequence", "desc")
  .limit(param("limit"));

const credentialsByAgent = compile<CredentialPage>()(newestFirst);
const credentialsByType = compile<CredentialPage & { type: string }>()(
  newestFirst.where("type", "=", param("type")),
);

/** Ordered newest first; `type` is optional. */
export function listCredentialsByAgent(
  read: Reader,
  { type, ...page }: CredentialPage & { readonly type: string | undefined },
): Promise<CredentialRow[]> {
  return type === undefined
    ? read.all(credentialsByAgent, page)
    : read.all(credentialsByType, { ...page, type });
}

interface CurrentQuery {
  readonly agent_id: string;
  /** An empty list matches any. */
  readonly type: string;
  /**
   * JSON array of the relay's did:keys, including former ones: its credentials come first, whether or not
   * they are expired, because they can be renewed.
   */
  readonly relays: string;
  readonly now: number;
  readonly limit: number;
}

const isIssuedByRelay = sql<boolean>`issuer in ${jsonTexts(param("relays"))}`;

const currentCredentialsOfAgent = compile<CurrentQuery>()(
  queryBuilder
    .selectFrom("credentials")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("current", "=", 1)
    .where("revoked_at", "is", null)
    .where(matchesIfGiven("type"))
    .where(sql<boolean>`(${isIssuedByRelay} or coalesce(expires_at >= ${param("now")}, true))`)
    .orderBy(isIssuedByRelay, "desc")
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists the current statement of every issuer about an agent. */
export function listCurrentCredentials(
  read: Reader,
  query: CurrentQuery,
): Promise<CredentialRow[]> {
  return read.all(currentCredentialsOfAgent, query);
}

const revokeCredentialQuery = compile<{
  credential_id: string;
  now: number;
  reason: string | null;
}>()(
  queryBuilder
    .updateTable("credentials")
    .set({ revoked_at: param("now"), revoked_reason: param("reason") })
    .where("credential_id", "=", param("credential_id"))
    .where("revoked_at", "is", null),
);

/** Revokes a credential; the first revocation counts. */
export async function markCredentialRevoked(
  tx: Tx,
  change: { credential_id: string; now: number; reason: string | null },
): Promise<void> {
  await tx.run(revokeCredentialQuery, change);
}
