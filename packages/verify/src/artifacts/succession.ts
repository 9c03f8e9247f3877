import {
  bytesToHex,
  hexToBytes,
  type SuccessionRecord,
  unlessMalformed,
  verifySuccessionChain,
} from "@agent/crypto";
import { getSuccessionRecords } from "../detect-kind.ts";
import type { Verdict } from "../verdict.ts";
import { buildSuccessionVerdict, type KeyChain } from "./build-succession-verdict.ts";
import type { VerifyOptions } from "./options.ts";

/** The unsigned members of a relay's answer, beside the records. */
interface ClaimedHistory {
  readonly agent_id?: string;
  readonly current_public_key?: string;
  readonly keys?: readonly { readonly public_key?: string }[];
}

/**
 * Verifies one succession record, a chain of them, or a relay's answer, whose keys must be those of
 * the chain.
 */
export function checkSuccession(value: object, options: VerifyOptions): Verdict {
  const records = (getSuccessionRecords(value) ?? [value]) as readonly Partial<SuccessionRecord>[];
  const claimed: ClaimedHistory = Array.isArray(value) || records[0] === value ? {} : value;
  const agentId = claimed.agent_id ?? records[0]?.agent_id ?? "";
  const chain = verifyClaimedChain(records, claimed, agentId);
  return buildSuccessionVerdict("succession", chain, { role: "agent", id: agentId }, options);
}

function verifyClaimedChain(
  records: readonly Partial<SuccessionRecord>[],
  claimed: ClaimedHistory,
  agentId: string,
): KeyChain {
  const { old_public_key: firstKey = "" } = records[0] ?? {};
  const firstPublicKey =
    typeof firstKey === "string" ? unlessMalformed(() => hexToBytes(firstKey)) : undefined;
  if (firstPublicKey === undefined) return { ok: false, code: "succession.malformed" };
  const chain = verifySuccessionChain(records, { agentId, firstPublicKey });
  if (!chain.ok) return chain;
  const publicKeys = [...chain.formerPublicKeys, chain.currentPublicKey].map(bytesToHex);
  return matchesClaim(claimed, publicKeys)
    ? { ok: true, publicKeys }
    : { ok: false, code: "artifact.key_unbound" };
}

function matchesClaim(
  { current_public_key: current, keys: listed }: ClaimedHistory,
  keys: readonly string[],
): boolean {
  return (
    (current === undefined || current === keys.at(-1)) &&
    (listed === undefined ||
      (Array.isArray(listed) &&
        listed.length === keys.length &&
        listed.every((entry, index) => entry?.public_key === keys[index])))
  );
}
