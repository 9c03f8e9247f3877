import { completeChecks, completeChecksAsync, verify, verifyAsync } from "@agent/crypto";
import type { ExternalCheck } from "./external-check.ts";
import {
  type CredentialVerdict,
  checkCredential,
  checkPresentation,
  type PresentationVerdict,
} from "./check-credential.ts";
import type { VerifiableCredential } from "../schema.ts";

type MaybePromise = boolean | Promise<boolean>;

/** What the verifier knows besides the credential. */
export interface VerifyCredentialOptions<Answer extends MaybePromise = boolean> {
  /** The verifier's clock in ms since the epoch; no tolerance is added to it. */
  readonly now: number;
  /** Whether an authentic credential was revoked; without it nobody is asked. */
  readonly isRevoked?: ((credential: VerifiableCredential) => Answer) | undefined;
}

/** As for a credential; what is left out is not asked. */
export interface VerifyPresentationOptions<
  Answer extends MaybePromise = boolean,
> extends VerifyCredentialOptions<Answer> {
  /** What the presentation has to be signed with. */
  readonly challenge?: string | undefined;
  /** Whom the presentation has to be made for. */
  readonly audience?: string | undefined;
}

/**
 * Judges a credential, given as a value or as its JSON text, by the did:key that issued it
 * (specification, Credentials). Never throws on what it is handed: a refused credential has its
 * `code`, of which CredentialRefusal is the list, and a rung that fails on a valid one is a remark
 * (CredentialWarning).
 */
export function verifyCredential(
  credential: object | string,
  options: VerifyCredentialOptions,
): CredentialVerdict {
  return completeChecks(checkCredential(credential, buildContext(options)), (check) =>
    runExternalCheck(check, options),
  );
}

/** As `verifyCredential`, with the signature checked off the event loop where there are threads. */
export async function verifyCredentialAsync(
  credential: object | string,
  options: VerifyCredentialOptions<MaybePromise>,
): Promise<CredentialVerdict> {
  return completeChecksAsync(checkCredential(credential, buildContext(options)), (check) =>
    runExternalCheckAsync(check, options),
  );
}

/**
 * Judges a presentation, given as a value or as its JSON text, and each credential in it; one
 * refused credential refuses it. PresentationRefusal lists its codes.
 */
export function verifyPresentation(
  presentation: object | string,
  options: VerifyPresentationOptions,
): PresentationVerdict {
  return completeChecks(checkPresentation(presentation, buildContext(options)), (check) =>
    runExternalCheck(check, options),
  );
}

/** As `verifyPresentation`, with the signatures checked off the event loop. */
export async function verifyPresentationAsync(
  presentation: object | string,
  options: VerifyPresentationOptions<MaybePromise>,
): Promise<PresentationVerdict> {
  return completeChecksAsync(checkPresentation(presentation, buildContext(options)), (check) =>
    runExternalCheckAsync(check, options),
  );
}

function buildContext({
  now,
  isRevoked,
  challenge,
  audience,
}: VerifyPresentationOptions<MaybePromise>) {
  return { now, checksRevocation: isRevoked !== undefined, challenge, audience };
}

function runExternalCheck(check: ExternalCheck, { isRevoked }: VerifyCredentialOptions): boolean {
  switch (check.kind) {
    case "signature":
      return verify(check.signature, check.signedBytes, check.publicKey);
    case "not_revoked":
      // Only a plain "no" counts: a promise, in a caller without types, is none.
      return isRevoked?.(check.credential) === false;
  }
}

async function runExternalCheckAsync(
  check: ExternalCheck,
  { isRevoked }: VerifyCredentialOptions<MaybePromise>,
): Promise<boolean> {
  switch (check.kind) {
    case "signature":
      return verifyAsync(check.signature, check.signedBytes, check.publicKey);
    case "not_revoked":
      return (await isRevoked?.(check.credential)) === false;
  }
}
