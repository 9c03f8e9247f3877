import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { CredentialRow } from "../storage/tables/credentials.ts";

/** What one issuer says of one agent in one respect; its newest credential is the one presented. */
export type Line = Pick<CredentialRow, "agent_id" | "issuer" | "type" | "delegator_id">;

/** A credential that is not stored yet. */
export type NewCredential = Omit<
  CredentialRow,
  "sequence" | "current" | "revoked_at" | "revoked_reason"
>;

const credentialById = prepare<{ credential_id: string }>()(
  db.selectFrom("credentials").selectAll().where("credential_id", "=", p("credential_id")),
);

export function findCredential(
  read: Reader,
  credential_id: string,
): Promise<CredentialRow | undefined> {
  return read.get(credentialById, { credential_id });
}

const credentialByTask = prepare<{ task_id: string }>()(
  db
    .selectFrom("credentials")
    .select("credential_id")
    .where("task_id", "is not", null)
    .where("task_id", "=", p("task_id")),
);

/** The id of the credential that was issued for a task's receipt. */
export async function credentialOfTask(read: Reader, task_id: string): Promise<string | undefined> {
  return (await read.get(credentialByTask, { task_id }))?.credential_id;
}

const newestOfLine = prepare<Line>()(
  db
    .selectFrom("credentials")
    .select("issued_at")
    .where("agent_id", "=", p("agent_id"))
    .where("issuer", "=", p("issuer"))
    .where("type", "=", p("type"))
    .where("delegator_id", "=", p("delegator_id"))
    .where("current", "=", 1),
);

const endLine = prepare<Line>()(
  db
    .updateTable("credentials")
    .set({ current: 0 })
    .where("agent_id", "=", p("agent_id"))
    .where("issuer", "=", p("issuer"))
    .where("type", "=", p("type"))
    .where("delegator_id", "=", p("delegator_id"))
    .where("current", "=", 1),
);

const addCredential = prepare<NewCredential & Pick<CredentialRow, "current">>()(
  db.insertInto("credentials").values({
    agent_id: p("agent_id"),
    sequence: sql`(select coalesce(max(sequence), 0) + 1 from credentials
      where agent_id = ${p("agent_id")})`,
    credential_id: p("credential_id"),
    type: p("type"),
    issuer: p("issuer"),
    delegator_id: p("delegator_id"),
    task_id: p("task_id"),
    body: p("body"),
    issued_at: p("issued_at"),
    expires_at: p("expires_at"),
    current: p("current"),
    revoked_at: null,
    revoked_reason: null,
  }),
);

/** Ends what an issuer said in one respect, because it is said anew by another one. */
export async function endCredentialLine(tx: Tx, line: Line): Promise<void> {
  await tx.run(endLine, line);
}

/** Keeps a credential; it takes the place of the one its issuer said before, never of a later one. */
export async function insertCredential(tx: Tx, credential: NewCredential): Promise<void> {
  const before = await tx.get(newestOfLine, credential);
  const isNewest = before === undefined || before.issued_at <= credential.issued_at;
  if (isNewest && before !== undefined) await tx.run(endLine, credential);
  await tx.run(addCredential, { ...credential, current: isNewest ? 1 : 0 });
}

type OldWord = Pick<CredentialRow, "agent_id" | "type"> & { readonly now: number };

const removeEnded = prepare<OldWord>()(
  db
    .deleteFrom("credentials")
    .where("agent_id", "=", p("agent_id"))
    .where("type", "=", p("type"))
    .where("current", "=", 0)
    .where("revoked_at", "is", null)
    .where("expires_at", "<", p("now")),
);

/** Drops what was said anew since and has run out; what was revoked stays known as such. */
export async function forgetReplaced(tx: Tx, word: OldWord): Promise<void> {
  await tx.run(removeEnded, word);
}

interface Page {
  readonly agent_id: string;
  readonly before: number;
  readonly limit: number;
}

const newestFirst = db
  .selectFrom("credentials")
  .selectAll()
  .where("agent_id", "=", p("agent_id"))
  .where("sequence", "<", p("before"))
  .orderBy("sequence", "desc")
  .limit(p("limit"));

const allOf = prepare<Page>()(newestFirst);
const ofType = prepare<Page & { type: string }>()(newestFirst.where("type", "=", p("type")));

/** Newest first; `type` may be left open. */
export function credentialsOf(
  read: Reader,
  { type, ...page }: Page & { readonly type: string | undefined },
): Promise<CredentialRow[]> {
  return type === undefined ? read.all(allOf, page) : read.all(ofType, { ...page, type });
}

interface CurrentQuery {
  readonly agent_id: string;
  /** Empty: any. */
  readonly type: string;
  /**
   * JSON array of the relay's did:keys, former ones included: its credentials come first, and whether
   * they still hold or not, because they can be renewed.
   */
  readonly relays: string;
  readonly now: number;
  readonly limit: number;
}

const isRelays = sql<boolean>`issuer in (select value from json_each(${p("relays")}))`;

const currentOf = prepare<CurrentQuery>()(
  db
    .selectFrom("credentials")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("current", "=", 1)
    .where("revoked_at", "is", null)
    .where(sql<boolean>`(${p("type")} = '' or type = ${p("type")})`)
    .where(sql<boolean>`(${isRelays} or coalesce(expires_at >= ${p("now")}, true))`)
    .orderBy(isRelays, "desc")
    .orderBy("sequence", "desc")
    .limit(p("limit")),
);

/** What every issuer says of an agent now. */
export function currentCredentials(read: Reader, query: CurrentQuery): Promise<CredentialRow[]> {
  return read.all(currentOf, query);
}

const revoke = prepare<{ credential_id: string; now: number; reason: string | null }>()(
  db
    .updateTable("credentials")
    .set({ revoked_at: p("now"), revoked_reason: p("reason") })
    .where("credential_id", "=", p("credential_id"))
    .where("revoked_at", "is", null),
);

/** Takes a credential back; the first time counts. */
export async function markRevoked(
  tx: Tx,
  change: { credential_id: string; now: number; reason: string | null },
): Promise<void> {
  await tx.run(revoke, change);
}
