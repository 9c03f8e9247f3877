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

/** What one of the packages below found. */
type VerificationResult = { readonly checks: readonly NamedCheckResult[] } & (
  | { readonly valid: true }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);

/** Whose signature it is, and whose it has to be. */
export interface SignerKey {
  /** The signing key as 64 hex digits; null when nothing names it. */
  readonly key: string | null;
  /** The keys of which it has to be one; undefined: nobody asked. */
  readonly expectedKeys: BoundKeys | undefined;
}

/** A verdict on the rungs of the ladder; what holds by itself is asked at last whose it is. */
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
