import * as v from "valibot";
import { limits } from "../../engine/limits.ts";
import { defineOperation, type Operation } from "../../engine/operation.ts";
import { WITNESS_PREFIX } from "../../engine/peer-requests.ts";

/**
 * The contract between a transparency log and its witness (C2SP tlog-witness). A relay's clients do not
 * call these operations, so they are not part of `operations`.
 */
export const witnessOperations = {
  addCheckpoint: defineOperation({
    method: "POST",
    path: `${WITNESS_PREFIX}add-checkpoint`,
    summary:
      "Cosign the head of a log that only grew since the last one; 409 states the size that was cosigned last.",
    section: "Witness",
    auth: "public",
    tier: "write",
    body: v.string(),
    textBytes: limits.witnessBytes,
    media: ["text/plain; charset=utf-8", "text/x.tlog.size"],
    ok: { 200: v.string(), 409: v.string() },
    refusals: [
      "log.malformed",
      "log.origin_unknown",
      "log.key_unknown",
      "log.signature_invalid",
      "log.shrunk",
      "log.consistency_invalid",
      "log.equivocation",
      // Also for a log that sends too many requests from different addresses.
      "rate.exceeded",
    ],
  }),
  getWitnessedCheckpoint: defineOperation({
    method: "GET",
    path: `${WITNESS_PREFIX}:originHash/checkpoint`,
    summary: "Get the newest head of a log that this relay has cosigned.",
    section: "Witness",
    auth: "public",
    tier: "public",
    media: ["text/plain; charset=utf-8"],
    ok: { 200: v.string() },
    refusals: ["log.origin_unknown"],
  }),
} as const satisfies Record<string, Operation>;

export type WitnessOperations = typeof witnessOperations;
