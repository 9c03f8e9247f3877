import type { TrustThresholds } from "@agent/routing-semiring";
import { compile, param, queryBuilder } from "../storage/queries/compiled-query.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { getTrustThresholds } from "./backing/backing-store.ts";
import { findTrust } from "./store.ts";

/** A delegator's record of an executor, with what decides the weight of the delegator's word. */
export interface TrustPairState {
  readonly record: TrustRecordRow | undefined;
  /** The fees that the delegator left with all executors, in micro-units. */
  readonly payerFees: number;
  /** The part of them that failed tasks have used; see `countsForStrangers`. */
  readonly usedFees: number;
  /** The group of agents that share a key with the delegator; null without one. */
  readonly groupId: string | null;
  readonly thresholds: TrustThresholds;
}

const feesOfPayer = inRowForm(
  compile<{ agent_id: string }>()(
    queryBuilder
      .selectFrom("agent_histories")
      .select(["fees_paid", "fees_used"])
      .where("agent_id", "=", param("agent_id")),
  ),
  { kind: "find", table: KEYED_TABLES.agent_histories, columns: ["fees_paid", "fees_used"] },
);

const groupOfAgent = inRowForm(
  compile<{ agent_id: string }>()(
    queryBuilder
      .selectFrom("key_sharers")
      .select("group_id")
      .where("agent_id", "=", param("agent_id")),
  ),
  { kind: "find", table: KEYED_TABLES.key_sharers, columns: ["group_id"] },
);

/** Reads all that a change of a pair's record depends on. */
export async function findTrustPair(
  read: Reader,
  agent_id: string,
  remote_agent_id: string,
): Promise<TrustPairState> {
  const [thresholds, record, payer, sharer] = await Promise.all([
    getTrustThresholds(read),
    findTrust(read, agent_id, remote_agent_id),
    read.get(feesOfPayer, { agent_id }),
    read.get(groupOfAgent, { agent_id }),
  ]);
  return {
    record,
    payerFees: payer?.fees_paid ?? 0,
    usedFees: payer?.fees_used ?? 0,
    groupId: sharer?.group_id ?? null,
    thresholds,
  };
}
