import { type RelaySuccessionRecord, verifyRelaySuccession } from "@agent/crypto";
import { getSuccessionRecords } from "../detect-kind.ts";
import type { Verdict } from "../verdict.ts";
import { buildSuccessionVerdict } from "./build-succession-verdict.ts";
import type { VerifyOptions } from "./options.ts";

/** Verifies one succession record of a relay or a chain of them. */
export function checkRelaySuccession(value: object, options: VerifyOptions): Verdict {
  const records = (getSuccessionRecords(value) ?? [
    value,
  ]) as readonly Partial<RelaySuccessionRecord>[];
  const { relay_id: relayId = "" } = records[0] ?? {};
  const chain = verifyRelaySuccession(records, { relayId });
  return buildSuccessionVerdict("relay_succession", chain, { role: "relay", id: relayId }, options);
}
