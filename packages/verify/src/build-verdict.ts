import type { BoundKeys } from "@agent/receipts";
import { isExpectedKey } from "./expected-key.ts";
import type { ArtifactKind } from "./kind.ts";
import {
  type NamedCheckResult,
  assignProofLevels,
  type CheckLevels,
} from "./assign-proof-levels.ts";
import type { ArtifactRefusal } from "./refusals.ts";
import type { Verdict } from "./verdict.ts";

/** The result of one of the packages below. */
type VerificationResult = { readonly checks: readonly NamedCheckResult[] } & (
  | { readonly valid: true }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);

/** The key that signed and the keys that must have signed. */
export interface SignerKey {
  /** The signing key as 64 hex digits; null if unknown. */
  readonly key: string | null;
  /** The keys of which it must be one; undefined accepts any. */
  readonly expectedKeys: BoundKeys | undefined;
}

/**
 * Builds a verdict by proof levels; the key of a valid result is compared with the expected ones
 * last.
 */
export function buildVerdict(
  kind: ArtifactKind,
  result: VerificationResult,
  levels: CheckLevels,
  signer: SignerKey = { key: null, expectedKeys: undefined },
  nested: readonly Verdict[] = [],
): Verdict {
  if (!result.valid) {
    return {
      kind,
      valid: false,
      code: result.code,
      checks: assignProofLevels(result.checks, levels),
      nested,
    };
  }
  if (signer.expectedKeys === undefined) {
    return { kind, valid: true, checks: assignProofLevels(result.checks, levels), nested };
  }
  const withBound = (bound: NamedCheckResult) =>
    assignProofLevels([...result.checks, bound], { ...levels, bound: "key_bound" });
  if (isExpectedKey(signer.key, signer.expectedKeys)) {
    return { kind, valid: true, checks: withBound({ name: "bound", ok: true }), nested };
  }
  const code = "artifact.key_unbound";
  return {
    kind,
    valid: false,
    code,
    checks: withBound({ name: "bound", ok: false, code }),
    nested,
  };
}
