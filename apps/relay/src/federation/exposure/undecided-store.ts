import { asMicro, type Micro } from "@agent/budget";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

/** Each sum reads the index on its own column. */
export const sumExposureOfPeer = compile<{ relay_id: string }>()(
  sql<{ defaulted: number; undecided: number }>`
    select
      (select coalesce(sum(defaulted), 0) from federation_inbound
        where relay_id = ${param("relay_id")} and defaulted is not null) as defaulted,
      (select coalesce(sum(undecided), 0) from federation_inbound
        where relay_id = ${param("relay_id")} and undecided is not null) as undecided`,
);

/**
 * Returns two totals in micro-units: of the results that a peer accepted but did not settle in time, and of
 * those that it neither answered nor settled before their holds expired.
 */
export async function getPeerExposure(
  read: Reader,
  relay_id: string,
): Promise<{ readonly defaulted: Micro; readonly undecided: Micro }> {
  const { defaulted = 0, undecided = 0 } = (await read.get(sumExposureOfPeer, { relay_id })) ?? {};
  return { defaulted: asMicro(defaulted), undecided: asMicro(undecided) };
}

const sumUndecided = compile()(
  sql<{ total: number }>`
    select coalesce(sum(undecided), 0) as total from federation_inbound
    where undecided is not null`,
);

/** Returns the undecided total of all peers. */
export async function getTotalUndecidedAmount(read: Reader): Promise<Micro> {
  return asMicro((await read.get(sumUndecided, {}))?.total ?? 0);
}
