import { hexToBytes } from "../formats.ts";
import type { SuccessionRecord } from "./succession.ts";
import {
  verifySuccessionStep,
  type SuccessionStepContext,
  type SuccessionCode,
} from "./verify-succession.ts";

export interface SuccessionChainOptions {
  readonly agentId: string;
  readonly firstPublicKey: Uint8Array;
}

export type SuccessionChainResult =
  | {
      readonly ok: true;
      readonly currentPublicKey: Uint8Array;
      /** The keys that were left, oldest first. */
      readonly formerPublicKeys: readonly Uint8Array[];
    }
  | { readonly ok: false; readonly code: SuccessionCode; readonly index: number };

/** Walks an agent's steps, oldest first, to its current key; a refusal has the bad step's index. */
export function verifySuccessionChain(
  records: readonly unknown[],
  { agentId, firstPublicKey }: SuccessionChainOptions,
): SuccessionChainResult {
  return verifySuccessionSteps(records, { owner: "agent_id", ownerId: agentId, firstPublicKey });
}

type SuccessionStepsOptions = Pick<SuccessionStepContext, "owner" | "ownerId"> &
  Pick<SuccessionChainOptions, "firstPublicKey">;

/** As `verifySuccessionChain`, for the keys of either kind of owner. */
export function verifySuccessionSteps(
  records: readonly unknown[],
  { owner, ownerId, firstPublicKey }: SuccessionStepsOptions,
): SuccessionChainResult {
  const formerPublicKeys: Uint8Array[] = [];
  let currentPublicKey = firstPublicKey;
  let after = -1;
  for (const [index, record] of records.entries()) {
    const context = { owner, ownerId, currentPublicKey, formerPublicKeys, after };
    const result = verifySuccessionStep(record, context);
    if (!result.ok) return { ...result, index };
    const { new_public_key, timestamp } = record as SuccessionRecord;
    formerPublicKeys.push(currentPublicKey);
    currentPublicKey = hexToBytes(new_public_key);
    after = timestamp;
  }
  return { ok: true, currentPublicKey, formerPublicKeys };
}
