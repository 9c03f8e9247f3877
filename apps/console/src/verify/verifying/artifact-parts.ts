import { isJsonObject } from "@agent/crypto";
import type { EvidenceBundle, BundlePosting, Verdict } from "@agent/verify";

/** Returns the bundle if the artifact has the members of one, which `well_formed` has checked. */
export function getBundle(verdict: Verdict, artifact: unknown): EvidenceBundle | null {
  const isWellFormed = verdict.checks.some(({ name, ok }) => name === "well_formed" && ok);
  const isReformatted = verdict.code === "bundle.not_canonical";
  return verdict.kind === "bundle" && (isWellFormed || isReformatted)
    ? (artifact as EvidenceBundle)
    : null;
}

/** An inner verdict and the artifact to which it applies. */
export interface InnerArtifact {
  readonly verdict: Verdict;
  readonly value: unknown;
}

/** Pairs the inner verdicts with their artifacts, which are in the same order. */
export function listInner({ kind, nested }: Verdict, value: unknown): InnerArtifact[] {
  const members = isJsonObject(value) ? value : {};
  if (kind === "bundle") {
    const byKind = { receipt: members["receipt"], credential: members["credential"] };
    return nested.map((verdict) => ({
      verdict,
      value: verdict.kind === "receipt" ? byKind.receipt : byKind.credential,
    }));
  }
  const inner = members["delegation_receipts"] ?? members["verifiableCredential"];
  const values: readonly unknown[] = Array.isArray(inner) ? inner : [];
  return nested.map((verdict, index) => ({ verdict, value: values[index] }));
}

/** Adds up the postings in millionths of a US dollar. */
export function sumPostings(postings: readonly BundlePosting[]): number {
  return postings.reduce((sum, { amount }) => sum + Math.round(amount * 1e6), 0);
}
