import type { RelayChainCode } from "@agent/crypto";
import { buildVerdict } from "../build-verdict.ts";
import { findKeyFault, isIdAllowed, type StatedSigner } from "../keys/named-keys.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

/** The keys of a chain of succession records, or why the chain is refused. */
export type KeyChain =
  | {
      readonly ok: true;
      /** 64 hex digits each, oldest first. */
      readonly publicKeys: readonly string[];
    }
  | { readonly ok: false; readonly code: KeyChainRefusal };

type KeyChainRefusal = RelayChainCode | "artifact.key_unbound";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  signatures: "intact",
  handover: "key_bound",
  order: "key_valid",
};

const checkNames: Readonly<Record<KeyChainRefusal, keyof typeof checkLevels>> = {
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
  "artifact.key_unbound": "handover",
};

/**
 * Builds the verdict on the keys of an agent or a relay; the caller may name any key of the chain. A chain
 * that does not begin with the key that its agent's id is derived from counts only for an owner whom the
 * caller named.
 */
export function buildSuccessionVerdict(
  kind: "succession" | "relay_succession",
  chain: KeyChain,
  owner: Pick<StatedSigner, "role" | "id">,
  { publicKey: namedKeys }: VerifyOptions,
): Verdict {
  if (!chain.ok) return refuseChain(kind, chain.code);
  const [firstKey = ""] = chain.publicKeys;
  const signer = { ...owner, firstKey };
  if (namedKeys === undefined && !isIdAllowed(signer, firstKey)) {
    return refuseChain(kind, "artifact.key_unbound");
  }
  const checks = ["structure", "signatures", "order"].map((name) => ({ name, ok: true }));
  const counts = (each: string, signedAt?: number) =>
    namedKeys !== undefined && findKeyFault(each, namedKeys, { ...signer, signedAt }) === undefined;
  // A former key may have been stolen, so it leads to no key that the verifier's own steps lack.
  const signedAt = chain.publicKeys.every((each) => counts(each)) ? undefined : Infinity;
  const key = chain.publicKeys.find((each) => counts(each, signedAt));
  return buildVerdict(kind, { valid: true, checks }, checkLevels, {
    key: key ?? null,
    namedKeys,
    signer,
  });
}

function refuseChain(kind: "succession" | "relay_succession", code: KeyChainRefusal): Verdict {
  const checks = [{ name: checkNames[code], ok: false, code }];
  return buildVerdict(kind, { valid: false, code, checks }, checkLevels);
}
