import type { TrustThresholds } from "@agent/routing-semiring";
import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";

/** A delegator's record of an executor, with what decides the weight of the delegator's word. */
export interface TrustPairState {
  readonly record: TrustRecordRow | undefined;
  /** The fees that the delegator left with all executors, in micro-units. */
  readonly payerFees: number;
  /** The group of agents that share a key with the delegator; null without one. */
  readonly groupId: string | null;
  readonly thresholds: TrustThresholds;
}

type PairRow = { [Column in keyof TrustRecordRow]: TrustRecordRow[Column] | null } & {
  payer_fees: number | null;
  group_id: string | null;
  verified: number;
  trusted: number;
};

const selectPair = compile<{ agent_id: string; remote_agent_id: string }>()(
  sql<PairRow>`
    select pair.*, thresholds.verified, thresholds.trusted,
      (select fees_paid from agent_histories where agent_id = ${param("agent_id")}) as payer_fees,
      (select group_id from key_sharers where agent_id = ${param("agent_id")}) as group_id
    from trust_thresholds as thresholds
    left join trust_records as pair on pair.agent_id = ${param("agent_id")}
      and pair.remote_agent_id = ${param("remote_agent_id")}
    where thresholds.one = 1`,
);

/** Reads all that a change of a pair's record depends on, in one statement. */
export async function findTrustPair(
  read: Reader,
  agent_id: string,
  remote_agent_id: string,
): Promise<TrustPairState> {
  const row = await read.get(selectPair, { agent_id, remote_agent_id });
  if (row === undefined) throw new Error("the trust thresholds are not stored");
  const { payer_fees, group_id, verified, trusted, ...pair } = row;
  return {
    record: pair.agent_id === null ? undefined : (pair as TrustRecordRow),
    payerFees: payer_fees ?? 0,
    groupId: group_id,
    thresholds: { verified, trusted },
  };
}
