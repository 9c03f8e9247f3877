import { bytesToHex } from "../formats.ts";
import { unlessMalformed } from "../unless-malformed.ts";
import {
  getOldKey,
  signSuccessionStep,
  type SignSuccessionOptions,
  type SuccessionRecord,
} from "./succession.ts";
import { verifySuccessionSteps } from "./verify-succession-chain.ts";
import { parsePublicKey, type SuccessionCode } from "./verify-succession.ts";

/**
 * A relay's change from one key to the next, signed by both keys like an agent's. It names its
 * owner by `relay_id` and must have no `agent_id`, so that neither kind of record passes for the
 * other.
 */
export interface RelaySuccessionRecord extends Omit<SuccessionRecord, "agent_id"> {
  readonly relay_id: string;
}

/** The content of a relay's succession record and the 32-byte seeds of both keys. */
export interface SignRelaySuccessionOptions extends Omit<SignSuccessionOptions, "agent_id"> {
  readonly relay_id: string;
}

/** Builds a relay's succession record, signed with both secret keys. */
export function signRelaySuccession(options: SignRelaySuccessionOptions): RelaySuccessionRecord {
  return signSuccessionStep({ relay_id: options.relay_id }, options);
}

/** The maximum number of keys of a relay, which bounds the records that its peers must read. */
export const MAX_RELAY_KEYS = 33;

/** The codes with which a relay's chain is refused. */
export type RelayChainCode = SuccessionCode | "succession.too_long";

/** The keys of a relay, or the code of the first invalid step and its index. */
export type RelayChainResult =
  | {
      readonly ok: true;
      /** Every key of the chain as 64 hex digits, oldest first; the last one is in force. */
      readonly publicKeys: readonly string[];
    }
  | { readonly ok: false; readonly code: RelayChainCode; readonly index: number };

/**
 * Verifies a relay's steps, oldest first, from the key where `records` begin, or from
 * `firstPublicKey` (64 hex digits). A refusal has the index of the invalid step. More than 32 steps
 * are refused with `succession.too_long`, a missing step or key with `succession.malformed`.
 */
export function verifyRelaySuccession(
  records: readonly unknown[],
  { relayId, firstPublicKey }: { readonly relayId: string; readonly firstPublicKey?: string },
): RelayChainResult {
  if (records.length >= MAX_RELAY_KEYS) {
    return { ok: false, code: "succession.too_long", index: MAX_RELAY_KEYS - 1 };
  }
  const stated = firstPublicKey ?? getOldKey(records[0]);
  const first = unlessMalformed(() => parsePublicKey(stated));
  if (first === undefined) return { ok: false, code: "succession.malformed", index: 0 };
  const chain = verifySuccessionSteps(records, {
    owner: "relay_id",
    ownerId: relayId,
    firstPublicKey: first,
  });
  if (!chain.ok) return chain;
  const { formerPublicKeys, currentPublicKey } = chain;
  return { ok: true, publicKeys: [...formerPublicKeys, currentPublicKey].map(bytesToHex) };
}

/**
 * Returns the steps of a relay's chain after a key (64 hex digits); null if the key is not in the chain or
 * the chain breaks a rule. A reader that knows any key of the chain can continue from there, but never go
 * back.
 */
export function findStepsAfter(
  records: readonly unknown[],
  { relayId, publicKey }: { readonly relayId: string; readonly publicKey: string },
): readonly RelaySuccessionRecord[] | null {
  const verified = verifyRelaySuccession(records, { relayId });
  const index = verified.ok ? verified.publicKeys.indexOf(publicKey) : -1;
  return index < 0 ? null : (records.slice(index) as readonly RelaySuccessionRecord[]);
}
