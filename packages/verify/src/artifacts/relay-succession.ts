import {
  type RelayChainCode,
  type RelaySuccessionRecord,
  verifyRelaySuccession,
} from "@agent/crypto";
import { isNamed } from "../bound-key.ts";
import { conclude } from "../conclude.ts";
import type { Places } from "../place-checks.ts";
import { successionList } from "../recognise.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const PLACES: Places = {
  structure: "well_formed",
  signatures: "intact",
  handover: "key_bound",
  order: "key_valid",
};

const CHECK_OF: Readonly<Record<RelayChainCode, keyof typeof PLACES>> = {
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
export function judgeRelaySuccession(value: object, { publicKey }: VerifyOptions): Verdict {
  const records = (successionList(value) ?? [value]) as readonly Partial<RelaySuccessionRecord>[];
  const chain = verifyRelaySuccession(records, { relayId: records[0]?.relay_id ?? "" });
  if (!chain.ok) {
    const { code } = chain;
    const checks = [{ name: CHECK_OF[code], ok: false, code }];
    return conclude("relay_succession", { valid: false, code, checks }, PLACES);
  }
  const checks = ["structure", "signatures", "order"].map((name) => ({ name, ok: true }));
  return conclude("relay_succession", { valid: true, checks }, PLACES, {
    key: chain.publicKeys.find((key) => publicKey !== undefined && isNamed(key, publicKey)) ?? null,
    named: publicKey,
  });
}
