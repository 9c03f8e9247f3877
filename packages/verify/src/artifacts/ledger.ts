import { verifyLedger } from "@agent/ledger";
import { buildVerdict } from "../build-verdict.ts";
import { listKeysFor } from "../keys/named-keys.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  spec: "well_formed",
  order: "well_formed",
  signed: "intact",
  key: "intact",
  signature: "intact",
  bound: "key_bound",
  content_hash: "hashes_match",
  goal: "hashes_match",
  steps: "hashes_match",
  steps_recorded: "hashes_match",
};

/** Verifies a ledger. It contains no key, so a signed one needs the caller's for its agent. */
export function checkLedger(ledger: object, { publicKey: named = [] }: VerifyOptions): Verdict {
  const { agent_id: id } = ledger as { readonly agent_id?: string };
  const signer = { role: "agent", id } as const;
  const verdict = verifyLedger(ledger, { publicKey: listKeysFor(named, signer) });
  // Only the caller's keys are tried, so a valid signature is bound to one of them.
  const bound = verdict.checks.some(({ name, ok }) => name === "signature" && ok)
    ? [{ name: "bound", ok: true }]
    : [];
  return buildVerdict("ledger", { ...verdict, checks: [...verdict.checks, ...bound] }, checkLevels);
}
