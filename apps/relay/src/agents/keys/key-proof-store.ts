import {
  inBatches,
  queryBuilder,
  param,
  compile,
  sql,
} from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { KeyProofRow } from "../../storage/tables/agents.ts";

/** A key that an agent has, or wants to have. */
export interface KeyBinding {
  readonly agent_id: string;
  readonly public_key: string;
}

const proofOfKey = inBatches(
  compile<{ public_key: string }>()(
    queryBuilder.selectFrom("key_proofs").selectAll().where("public_key", "=", param("public_key")),
  ),
);

/** Returns the newest proof of a key. */
export function findKeyProof(read: Reader, public_key: string): Promise<KeyProofRow | undefined> {
  return read.get(proofOfKey, { public_key });
}

/** Returns whether a key was proven under this id. */
export async function isProvenKey(
  read: Reader,
  { agent_id, public_key }: KeyBinding,
): Promise<boolean> {
  return (await findKeyProof(read, public_key))?.agent_id === agent_id;
}

const proofElsewhere = compile<KeyBinding>()(
  sql<{ agent_id: string }>`
    select agent_id from key_proofs
      where public_key = ${param("public_key")} and agent_id != ${param("agent_id")}
        and (exists (select 1 from agent_keys
                     where agent_keys.agent_id = key_proofs.agent_id
                       and agent_keys.public_key = key_proofs.public_key
                       and valid_until is null)
          or exists (select 1 from devices
                     where devices.agent_id = key_proofs.agent_id
                       and devices.public_key = key_proofs.public_key
                       and revoked_at is null))`,
);

/** Returns whether a key, including a device's key, is in force under another id that has proven it. */
export async function isProvenElsewhere(read: Reader, binding: KeyBinding): Promise<boolean> {
  return (await read.get(proofElsewhere, binding)) !== undefined;
}

const upsertProofQuery = compile<KeyProofRow>()(
  sql<never>`
    insert into key_proofs (public_key, agent_id, proven_at)
      values (${param("public_key")}, ${param("agent_id")}, ${param("proven_at")})
      on conflict (public_key) do update
        set agent_id = excluded.agent_id, proven_at = excluded.proven_at
        where key_proofs.agent_id != excluded.agent_id`,
);

/** Records the id under which a key is proven. */
export async function saveKeyProof(tx: Tx, proof: KeyProofRow): Promise<void> {
  await tx.run(upsertProofQuery, proof);
}

const otherBindings = compile<KeyBinding>()(
  sql<{ agent_id: string }>`
    select agent_id from agent_keys
      where public_key = ${param("public_key")} and agent_id != ${param("agent_id")} and valid_until is null
    union
    select agent_id from devices
      where public_key = ${param("public_key")} and agent_id != ${param("agent_id")} and revoked_at is null`,
);

/** Lists the other agents under whose ids a key is in force. */
export async function listOtherBindings(read: Reader, binding: KeyBinding): Promise<string[]> {
  return (await read.all(otherBindings, binding)).map(({ agent_id }) => agent_id);
}

const provenKeys = compile<{ agent_id: string; keys: string }>()(
  queryBuilder
    .selectFrom("key_proofs")
    .select("public_key")
    .where("agent_id", "=", param("agent_id"))
    .where(sql<boolean>`public_key in ${jsonTexts(param("keys"))}`),
);

/** Returns those of an agent's keys that were proven under its id. */
export function listProvenKeys(
  read: Reader,
  {
    agent_id,
    keys,
  }: { readonly agent_id: string; readonly keys: readonly Pick<KeyBinding, "public_key">[] },
): Promise<Pick<KeyBinding, "public_key">[]> {
  const named = JSON.stringify(keys.map(({ public_key }) => public_key));
  return read.all(provenKeys, { agent_id, keys: named });
}

const provenAgents = compile<{ ids: string }>()(
  sql<{ agent_id: string }>`
    select agents.agent_id from agents
      join key_proofs on key_proofs.public_key = agents.public_key
        and key_proofs.agent_id = agents.agent_id
      where agents.agent_id in ${jsonTexts(param("ids"))}`,
);

/** Returns the agents that have proven their current key. */
export async function listProvenAgents(
  read: Reader,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await read.all(provenAgents, { ids: JSON.stringify(ids) });
  return new Set(rows.map(({ agent_id }) => agent_id));
}
