import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

interface KeyPage {
  readonly agent_id: string;
  /** The public key or the device id of the last row of the page before. */
  readonly key: string;
  readonly limit: number;
}

/** A key of an agent with its times. */
export interface KeyPageRow {
  readonly agent_id: string;
  readonly key: string;
  readonly public_key: string;
  readonly device_id: string | null;
  readonly valid_from: number;
  readonly valid_until: number | null;
}

const ownKeys = compile<KeyPage>()(
  sql<KeyPageRow>`
    select agent_id, public_key as "key", public_key, null as device_id, valid_from, valid_until
    from agent_keys
    where agent_id > ${param("agent_id")}
      or (agent_id = ${param("agent_id")} and public_key > ${param("key")})
    order by agent_id, public_key limit ${param("limit")}`,
);

/** Lists the agents' own keys, in force and ended. */
export function listOwnKeyPage(read: Reader, page: KeyPage): Promise<KeyPageRow[]> {
  return read.all(ownKeys, page);
}

const deviceKeys = compile<KeyPage>()(
  sql<KeyPageRow>`
    select agent_id, device_id as "key", public_key, device_id, registered_at as valid_from,
      revoked_at as valid_until
    from devices
    where (agent_id > ${param("agent_id")}
        or (agent_id = ${param("agent_id")} and device_id > ${param("key")}))
      and not exists (select 1 from agent_keys where agent_keys.agent_id = devices.agent_id
        and agent_keys.public_key = devices.public_key)
    order by agent_id, device_id limit ${param("limit")}`,
);

/** Lists the keys of devices; one that carries its agent's own key is left out. */
export function listDeviceKeyPage(read: Reader, page: KeyPage): Promise<KeyPageRow[]> {
  return read.all(deviceKeys, page);
}
