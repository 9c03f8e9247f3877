import { asMicro, type Micro } from "@agent/budget";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

export const sumUndecidedOfPeer = compile<{ relay_id: string }>()(
  sql<{ total: number }>`
    select coalesce(sum(undecided), 0) as total from federation_inbound
    where relay_id = ${param("relay_id")} and undecided is not null`,
);

/** Returns the total of a peer's results that it has not answered or settled before their holds expired. */
export async function getPeerUndecidedAmount(read: Reader, relay_id: string): Promise<Micro> {
  return asMicro((await read.get(sumUndecidedOfPeer, { relay_id }))?.total ?? 0);
}

const sumUndecided = compile()(
  sql<{ total: number }>`
    select coalesce(sum(undecided), 0) as total from federation_inbound
    where undecided is not null`,
);

/** Returns the same total of all peers. */
export async function getTotalUndecidedAmount(read: Reader): Promise<Micro> {
  return asMicro((await read.get(sumUndecided, {}))?.total ?? 0);
}
