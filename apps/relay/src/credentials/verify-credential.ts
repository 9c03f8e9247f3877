import { verifyCredentialAsync, type VerifiableCredential } from "@agent/credentials";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";
import { isRevoked } from "./revocation.ts";

type VerifyCredential = Operations["verifyCredential"];

/** Verifies any JSON object as a credential valid now; never throws. */
export async function verifyCredential(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { value, text }: { readonly value: object; readonly text: string },
): Promise<Answer<VerifyCredential>> {
  if (Buffer.byteLength(text) > limits.credentialBytes) return refuse("credential.too_large");
  const { valid, code } = await verifyCredentialAsync(value, {
    now: runtime.now(),
    isRevoked: (credential) => isRevoked(storage.read, credential),
  });
  // Subject and issuer are shown only for an object with the structure of a credential.
  const { issuer, subject } =
    code === "credential.malformed" ? noParties : getParties(value as VerifiableCredential);
  return { status: 200, body: { valid, reasons: valid ? [] : [code], issuer, subject } };
}

const noParties = { issuer: null, subject: null };

function getParties({ issuer, credentialSubject }: VerifiableCredential) {
  return { issuer, subject: credentialSubject.id };
}
