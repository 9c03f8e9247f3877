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

/** The verifier's own values. */
export interface VerifyCredentialOptions<Answer extends MaybePromise = boolean> {
  /** The verifier's clock in ms since the epoch, applied without tolerance. */
  readonly now: number;
  /** Returns whether an authentic credential was revoked; without it, revocation is not checked. */
  readonly isRevoked?: ((credential: VerifiableCredential) => Answer) | undefined;
}

/** As for a credential; checks whose value is left out do not run. */
export interface VerifyPresentationOptions<
  Answer extends MaybePromise = boolean,
> extends VerifyCredentialOptions<Answer> {
  /** The challenge that the presentation must sign. */
  readonly challenge?: string | undefined;
  /** The audience that the presentation must be made for. */
  readonly audience?: string | undefined;
}

/**
 * Verifies a credential, given as a value or as its JSON text, with the key in its issuer's did:key
 * (specification, Credentials). Never throws on a value: a refused credential has a `code` of
 * CredentialRefusal, and a failed check of a valid one is a warning (CredentialWarning).
 */
export function verifyCredential(
  credential: object | string,
  options: VerifyCredentialOptions,
): CredentialVerdict {
  return completeChecks(checkCredential(credential, buildContext(options)), (check) =>
    runExternalCheck(check, options),
  );
}

/**
 * Verifies like `verifyCredential`, but verifies the signature off the event loop where the platform has
 * threads.
 */
export async function verifyCredentialAsync(
  credential: object | string,
  options: VerifyCredentialOptions<MaybePromise>,
): Promise<CredentialVerdict> {
  return completeChecksAsync(checkCredential(credential, buildContext(options)), (check) =>
    runExternalCheckAsync(check, options),
  );
}

/**
 * Verifies a presentation, given as a value or as its JSON text, and each credential in it. If one
 * credential is refused, so is the presentation. PresentationRefusal lists its codes.
 */
export function verifyPresentation(
  presentation: object | string,
  options: VerifyPresentationOptions,
): PresentationVerdict {
  return completeChecks(checkPresentation(presentation, buildContext(options)), (check) =>
    runExternalCheck(check, options),
  );
}

/** Verifies like `verifyPresentation`, but verifies the signatures off the event loop. */
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
      // Only `false` counts, because an untyped caller may return a promise.
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
