import { type DelegationToken, parseDelegationChain, verifyDelegationToken } from "@agent/receipts";
import { buildVerdict } from "../build-verdict.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import type { Verdict } from "../verdict.ts";
import type { TimedOptions } from "./options.ts";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  chain_length: "well_formed",
  suite: "well_formed",
  delegate: "well_formed",
  lifetime: "well_formed",
  key: "well_formed",
  signature: "intact",
  begun: "key_valid",
  in_force: "key_valid",
  chain: "nested",
  narrowing: "nested",
};

/** Verifies a delegation token; the key to name is that of the first issuer of its chain. */
export function checkDelegationToken(value: object, { now, publicKey }: TimedOptions): Verdict {
  const chain = parseDelegationChain(value) ?? [];
  const listKeys = (issuer: string) =>
    chain.flatMap(({ issuer_agent_id, issuer_public_key }) =>
      issuer_agent_id === issuer ? [issuer_public_key] : [],
    );
  const delegateId = (value as Partial<DelegationToken>).delegate_agent_id ?? "";
  const verdict = verifyDelegationToken(value, { now, delegateId, listKeys });
  return buildVerdict("delegation_token", verdict, checkLevels, {
    key: chain.at(-1)?.issuer_public_key ?? null,
    expectedKeys: publicKey,
  });
}
