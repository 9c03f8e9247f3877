import {
  EncodingError,
  hexToBytes,
  type SuccessionCode,
  type SuccessionRecord,
  verifySuccessionChain,
} from "@agent/crypto";
import { buildVerdict } from "../build-verdict.ts";
import { isExpectedKey } from "../expected-key.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import type { ArtifactRefusal } from "../refusals.ts";
import { getSuccessionRecords } from "../detect-kind.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  signatures: "intact",
  handover: "key_bound",
  order: "key_valid",
};

const checkNames: Readonly<Record<SuccessionCode, keyof typeof checkLevels>> = {
  "succession.malformed": "structure",
  "succession.suite_unknown": "structure",
  "succession.old_key_signature_invalid": "signatures",
  "succession.new_key_signature_invalid": "signatures",
  "succession.agent_mismatch": "handover",
  "succession.relay_mismatch": "handover",
  "succession.old_key_mismatch": "handover",
  "succession.new_key_refused": "handover",
  "succession.key_reused": "handover",
  "succession.timestamp_not_later": "order",
};

/** What a relay answers beside the records, which nobody signed. */
interface ClaimedHistory {
  readonly agent_id?: string;
  readonly current_public_key?: string;
  readonly keys?: readonly { readonly public_key?: string }[];
}

/**
 * The verdict on one succession record, a chain of them, or a relay's answer, whose keys have to be
 * those of the chain; a key to name is any of them.
 */
export function checkSuccession(value: object, { publicKey }: VerifyOptions): Verdict {
  const records = (getSuccessionRecords(value) ?? [value]) as readonly Partial<SuccessionRecord>[];
  const claimed: ClaimedHistory = Array.isArray(value) || records[0] === value ? {} : value;
  const code = findChainCode(records, claimed.agent_id);
  if (code !== undefined) return buildRefusal(checkNames[code], code);

  const [{ old_public_key: firstKey = "" } = {}] = records;
  const keys = [firstKey, ...records.map(({ new_public_key = "" }) => new_public_key)];
  if (!matchesClaim(claimed, keys)) return buildRefusal("handover", "artifact.key_unbound");
  const checks = ["structure", "signatures", "order"].map((name) => ({ name, ok: true }));
  return buildVerdict("succession", { valid: true, checks }, checkLevels, {
    key: keys.find((key) => publicKey !== undefined && isExpectedKey(key, publicKey)) ?? null,
    expectedKeys: publicKey,
  });
}

function matchesClaim(
  { current_public_key: current, keys: listed }: ClaimedHistory,
  keys: string[],
) {
  return (
    (current === undefined || current === keys.at(-1)) &&
    (!Array.isArray(listed) ||
      (listed.length === keys.length &&
        listed.every((entry, index) => entry?.public_key === keys[index])))
  );
}

function buildRefusal(name: string, code: ArtifactRefusal): Verdict {
  return buildVerdict(
    "succession",
    { valid: false, code, checks: [{ name, ok: false, code }] },
    checkLevels,
  );
}

function findChainCode(
  records: readonly Partial<SuccessionRecord>[],
  claimedId: string | undefined,
): SuccessionCode | undefined {
  const { agent_id = "", old_public_key: firstKey = "" } = records[0] ?? {};
  if (typeof firstKey !== "string") return "succession.malformed";
  try {
    const firstPublicKey = hexToBytes(firstKey);
    const result = verifySuccessionChain(records, {
      agentId: claimedId ?? agent_id,
      firstPublicKey,
    });
    return result.ok ? undefined : result.code;
  } catch (error) {
    if (error instanceof EncodingError) return "succession.malformed";
    throw error;
  }
}
