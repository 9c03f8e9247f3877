import {
  type RelayChainCode,
  type RelaySuccessionRecord,
  verifyRelaySuccession,
} from "@agent/crypto";
import { isExpectedKey } from "../expected-key.ts";
import { buildVerdict } from "../build-verdict.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import { getSuccessionRecords } from "../detect-kind.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  signatures: "intact",
  handover: "key_bound",
  order: "key_valid",
};

const checkNames: Readonly<Record<RelayChainCode, keyof typeof checkLevels>> = {
  "succession.malformed": "structure",
  "succession.too_long": "structure",
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

/** The verdict on one succession record of a relay or a chain of them; a key to name is any of them. */
export function checkRelaySuccession(value: object, { publicKey }: VerifyOptions): Verdict {
  const records = (getSuccessionRecords(value) ?? [
    value,
  ]) as readonly Partial<RelaySuccessionRecord>[];
  const chain = verifyRelaySuccession(records, { relayId: records[0]?.relay_id ?? "" });
  if (!chain.ok) {
    const { code } = chain;
    const checks = [{ name: checkNames[code], ok: false, code }];
    return buildVerdict("relay_succession", { valid: false, code, checks }, checkLevels);
  }
  const checks = ["structure", "signatures", "order"].map((name) => ({ name, ok: true }));
  return buildVerdict("relay_succession", { valid: true, checks }, checkLevels, {
    key:
      chain.publicKeys.find((key) => publicKey !== undefined && isExpectedKey(key, publicKey)) ??
      null,
    expectedKeys: publicKey,
  });
}
