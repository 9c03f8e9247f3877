import { asMicro, type Micro } from "@agent/budget";
import type { PeerDebt } from "@agent/federation-protocol/settlement";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

/** Each sum reads the index on its own column. */
export const sumExposureOfPeer = compile<{ relay_id: string }>()(
  sql<{ defaulted: number; undecided: number; refused: number }>`
    select
      (select coalesce(sum(defaulted), 0) from federation_inbound
        where relay_id = ${param("relay_id")} and defaulted is not null) as defaulted,
      (select coalesce(sum(undecided), 0) from federation_inbound
        where relay_id = ${param("relay_id")} and undecided is not null) as undecided,
      (select coalesce(sum(refused), 0) from federation_inbound
        where relay_id = ${param("relay_id")} and refused is not null) as refused`,
);

/**
 * Returns three totals in micro-units: of the results that a peer accepted but did not settle in time, of
 * those that it neither answered nor settled before their holds expired, and of those that it refused when
 * they may have been too late.
 */
export async function getPeerExposure(
  read: Reader,
  relay_id: string,
): Promise<Required<Pick<PeerDebt, "defaulted" | "undecided" | "refused">>> {
  const sums = await read.get(sumExposureOfPeer, { relay_id });
  const { defaulted = 0, undecided = 0, refused = 0 } = sums ?? {};
  return {
    defaulted: asMicro(defaulted),
    undecided: asMicro(undecided),
    refused: asMicro(refused),
  };
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
