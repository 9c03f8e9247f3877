import type { BoundKeys } from "@agent/receipts";
import { isNamed } from "./bound-key.ts";
import type { ArtifactKind } from "./kind.ts";
import { type NamedCheck, placeChecks, type Places } from "./place-checks.ts";
import type { ArtifactRefusal } from "./refusals.ts";
import type { Verdict } from "./verdict.ts";

/** What one of the packages below found. */
type Found = { readonly checks: readonly NamedCheck[] } & (
  | { readonly valid: true }
  | { readonly valid: false; readonly code: ArtifactRefusal }
);

/** Whose signature it is, and whose it has to be. */
export interface Signer {
  /** The signing key as 64 hex digits; null when nothing names it. */
  readonly key: string | null;
  /** The keys of which it has to be one; undefined: nobody asked. */
  readonly named: BoundKeys | undefined;
}

/** A verdict on the rungs of the ladder; what holds by itself is asked at last whose it is. */
export function conclude(
  kind: ArtifactKind,
  found: Found,
  places: Places,
  signer: Signer = { key: null, named: undefined },
  nested: readonly Verdict[] = [],
): Verdict {
  if (!found.valid) {
    return {
      kind,
      valid: false,
      code: found.code,
      checks: placeChecks(found.checks, places),
      nested,
    };
  }
  if (signer.named === undefined) {
    return { kind, valid: true, checks: placeChecks(found.checks, places), nested };
  }
  const withBound = (bound: NamedCheck) =>
    placeChecks([...found.checks, bound], { ...places, bound: "key_bound" });
  if (isNamed(signer.key, signer.named)) {
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
