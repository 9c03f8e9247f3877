import type { VerifiableCredential } from "@agent/credentials";
import { bytesToHex, didKeyToPublicKey, unlessMalformed } from "@agent/crypto";

/** Returns the key that a credential is about in 64 hex digits; undefined for another kind of subject. */
export function getSubjectKey({
  credentialSubject,
}: Pick<VerifiableCredential, "credentialSubject">): string | undefined {
  const { id } = credentialSubject as { readonly id?: unknown };
  if (typeof id !== "string") return undefined;
  return unlessMalformed(() => bytesToHex(didKeyToPublicKey(id)));
}
