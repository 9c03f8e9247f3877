import { isAgentIdOfKey } from "@agent/crypto";
import { type DelegationToken, parseDelegationChain, verifyDelegationToken } from "@agent/receipts";
import { buildVerdict } from "../build-verdict.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import { findKeyFault, type NamedKeys } from "../keys/named-keys.ts";
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

/**
 * Verifies a delegation token. If keys are named, they must include the first issuer's key and the key of
 * each later issuer whose id is not derived from it. A token itself states the keys of its issuers, so a
 * thief could sign the next link as the delegate with a key of its own.
 */
export function checkDelegationToken(value: object, { now, publicKey }: TimedOptions): Verdict {
  const chain = parseDelegationChain(value) ?? [];
  const listKeys = (issuer: string) =>
    chain.flatMap(({ issuer_agent_id, issuer_public_key }) =>
      issuer_agent_id === issuer ? [issuer_public_key] : [],
    );
  const delegateId = (value as Partial<DelegationToken>).delegate_agent_id ?? "";
  const verdict = verifyDelegationToken(value, { now, delegateId, listKeys });
  return buildVerdict("delegation_token", verdict, checkLevels, {
    key: findBoundRootKey(chain, publicKey),
    namedKeys: publicKey,
    signer: { role: "agent", id: chain.at(-1)?.issuer_agent_id ?? "" },
  });
}

/** Returns the first issuer's key; null if the key of a later issuer is not known to belong to it. */
function findBoundRootKey(chain: readonly DelegationToken[], named: NamedKeys = []): string | null {
  const areBound = chain
    .slice(0, -1)
    .every(
      ({ issuer_agent_id: id, issuer_public_key: key }) =>
        isAgentIdOfKey(id, key) || findKeyFault(key, named, { role: "agent", id }) === undefined,
    );
  return areBound ? (chain.at(-1)?.issuer_public_key ?? null) : null;
}
