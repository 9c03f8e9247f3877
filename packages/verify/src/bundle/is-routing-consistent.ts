import { canonicalize, sha256Hex } from "@agent/crypto";
import {
  findRules,
  replayRanking,
  type RoutingChoice,
  type RoutingRecord,
} from "@agent/routing-semiring";
import * as v from "valibot";
import type { EvidenceBundle } from "./schema.ts";

const number = v.number();
const attributeMembers = { trust: number, cost: number, latency: number, reliability: number };
const weights = v.looseObject({
  trust: number,
  success_rate: number,
  latency: number,
  price_efficiency: number,
  capability_match: number,
  availability: number,
});

/** The input of `replayRanking`, which checks the figures itself. */
export const RoutingRecordSchema = v.looseObject({
  algorithm: v.string(),
  seed: number,
  weights,
  exploration_drive: number,
  from: v.string(),
  required_capabilities: v.array(v.string()),
  max_budget: v.nullable(number),
  price_cap: v.optional(number),
  candidates: v.array(
    v.looseObject({
      agent_id: v.string(),
      capabilities: v.array(v.string()),
      unit_cost: v.nullable(number),
      trust_score: v.nullable(number),
      blocked: v.boolean(),
      successes: number,
      counted: number,
      avg_latency_ms: v.nullable(number),
      listing_latency_ms: v.nullable(number),
      online: v.boolean(),
      availability_guarantee: v.nullable(number),
      route: v.optional(
        v.looseObject({ ...attributeMembers, path: v.pipe(v.array(v.string()), v.nonEmpty()) }),
      ),
    }),
  ),
  excerpt: v.optional(
    v.looseObject({
      candidates: number,
      eligible: number,
      mean_cost: number,
      inputs_hash: v.string(),
    }),
  ),
  graph: v.array(v.looseObject({ ...attributeMembers, from: v.string(), to: v.string() })),
  choice: v.nullable(v.looseObject({})),
});

/**
 * Returns whether the stored record is the one that the bundle names and leads to the same choice. A missing
 * record, and one that was made by rules that this version does not know, cannot contradict the choice.
 */
export function isRoutingConsistent({ routing }: EvidenceBundle): boolean {
  const { record, record_hash, choice } = routing;
  if (record === undefined) return true;
  if (sha256Hex(canonicalize(record)) !== record_hash) return false;
  if (findRules(record) === undefined) return true;
  const replayed = replayOrUndefined(record);
  return replayed !== undefined && canonicalize(replayed) === canonicalize(choice);
}

function replayOrUndefined(record: RoutingRecord): RoutingChoice | null | undefined {
  try {
    return replayRanking(record);
  } catch (error) {
    // The record contains weights or a graph that no ranking can use.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
