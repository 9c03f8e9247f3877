import { hexToBytes } from "../formats.ts";
import type { SuccessionRecord } from "./succession.ts";
import {
  verifySuccessionStep,
  type SuccessionStepContext,
  type SuccessionCode,
} from "./verify-succession.ts";

/** The agent and its first key, of 32 bytes. */
export interface SuccessionChainOptions {
  readonly agentId: string;
  readonly firstPublicKey: Uint8Array;
}

/** The keys of an agent, or the code of the first invalid step and its index. */
export type SuccessionChainResult =
  | {
      readonly ok: true;
      readonly currentPublicKey: Uint8Array;
      /** The former keys, oldest first. */
      readonly formerPublicKeys: readonly Uint8Array[];
    }
  | { readonly ok: false; readonly code: SuccessionCode; readonly index: number };

/**
 * Verifies an agent's steps, oldest first, up to its current key. A refusal has the index of the
 * invalid step.
 */
export function verifySuccessionChain(
  records: readonly unknown[],
  { agentId, firstPublicKey }: SuccessionChainOptions,
): SuccessionChainResult {
  return verifySuccessionSteps(records, { owner: "agent_id", ownerId: agentId, firstPublicKey });
}

type SuccessionStepsOptions = Pick<SuccessionStepContext, "owner" | "ownerId"> &
  Pick<SuccessionChainOptions, "firstPublicKey">;

/** Verifies like `verifySuccessionChain`, for the keys of an agent or a relay. */
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
