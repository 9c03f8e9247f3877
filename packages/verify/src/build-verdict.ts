import {
  findKeyFault,
  KEY_FAULT_LEVELS,
  type KeyFault,
  type NamedKeys,
  type StatedSigner,
} from "./keys/named-keys.ts";
import type { ArtifactKind } from "./kind.ts";
import {
  type NamedCheckResult,
  assignProofLevels,
  mergeChecks,
  type CheckLevels,
} from "./assign-proof-levels.ts";
import type { ArtifactRefusal } from "./refusals.ts";
import type { CheckResult, Verdict } from "./verdict.ts";

/** The result of one of the underlying packages. */
type VerificationResult = { readonly checks: readonly NamedCheckResult[] } & (
  | { readonly valid: true }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);

/** The key that signed, the keys that may have signed, and the signer's identity. */
export interface SignerKey {
  /** The signing key as 64 hex digits; null if unknown. */
  readonly key: string | null;
  /** The keys that it must be one of; undefined accepts any. */
  readonly namedKeys: NamedKeys | undefined;
  readonly signer: StatedSigner;
}

/**
 * Builds a verdict by proof levels. Finally, the key of a valid result is compared with the expected ones.
 */
export function buildVerdict(
  kind: ArtifactKind,
  result: VerificationResult,
  levels: CheckLevels,
  signerKey?: SignerKey,
  nested: readonly Verdict[] = [],
): Verdict {
  const keyChecks = result.valid ? checkKey(signerKey) : [];
  const checks = mergeChecks([...assignProofLevels(result.checks, levels), ...keyChecks]);
  const code = result.valid ? keyChecks.find(({ ok }) => !ok)?.code : result.code;
  return code === undefined
    ? { kind, valid: true, checks, nested }
    : { kind, valid: false, code, checks, nested };
}

/**
 * Checks that the signing key is a named one that counts for the signer; without named keys nothing is
 * checked.
 */
function checkKey(
  signerKey: SignerKey | undefined,
): readonly (CheckResult & { readonly code?: KeyFault })[] {
  if (signerKey?.namedKeys === undefined) return [];
  const { key, namedKeys, signer } = signerKey;
  const code = findKeyFault(key, namedKeys, signer);
  return code === undefined
    ? [{ name: "key_bound", ok: true }]
    : [{ name: KEY_FAULT_LEVELS[code], ok: false, code }];
}
