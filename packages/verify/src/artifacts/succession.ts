import {
  EncodingError,
  hexToBytes,
  type SuccessionCode,
  type SuccessionRecord,
  verifySuccessionChain,
} from "@agent/crypto";
import { conclude } from "../conclude.ts";
import { isNamed } from "../bound-key.ts";
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

const CHECK_OF: Readonly<Record<SuccessionCode, keyof typeof PLACES>> = {
  "succession.malformed": "structure",
  "succession.suite_unknown": "structure",
  "succession.old_key_signature_invalid": "signatures",
  "succession.new_key_signature_invalid": "signatures",
  "succession.agent_mismatch": "handover",
  "succession.old_key_mismatch": "handover",
  "succession.new_key_refused": "handover",
  "succession.key_reused": "handover",
  "succession.timestamp_not_later": "order",
};

/** The verdict on one succession record or a chain of them; a key to name is any of its keys. */
export function judgeSuccession(value: object, { publicKey }: VerifyOptions): Verdict {
  const records = (successionList(value) ?? [value]) as readonly Partial<SuccessionRecord>[];
  const code = firstFault(records);
  if (code !== undefined) {
    const checks = [{ name: CHECK_OF[code], ok: false, code }];
    return conclude("succession", { valid: false, code, checks }, PLACES);
  }
  const checks = ["structure", "signatures", "order"].map((name) => ({ name, ok: true }));
  const keys = records.flatMap(({ old_public_key, new_public_key }) => [
    old_public_key ?? "",
    new_public_key ?? "",
  ]);
  const key = publicKey && keys.find((each) => isNamed(each, publicKey));
  return conclude("succession", { valid: true, checks }, PLACES, {
    key: key ?? null,
    named: publicKey,
  });
}

function firstFault(records: readonly Partial<SuccessionRecord>[]): SuccessionCode | undefined {
  const { agent_id: agentId = "", old_public_key: firstKey = "" } = records[0] ?? {};
  try {
    const result = verifySuccessionChain(records, {
      agentId,
      firstPublicKey: hexToBytes(firstKey),
    });
    return result.ok ? undefined : result.code;
  } catch (error) {
    if (error instanceof EncodingError) return "succession.malformed";
    throw error;
  }
}
