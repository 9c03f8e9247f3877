import { buildRefusal, type CheckRun, runChecks, toVerdict, type Verdict } from "@agent/crypto";
import type { ExternalCheck } from "./external-check.ts";
import { CREDENTIAL_CHECKS, type CredentialCheckContext } from "./credential-checks.ts";
import { parseSignedCredential, parseSignedPresentation } from "../parse.ts";
import { PRESENTATION_CHECKS, type PresentationCheckContext } from "./presentation-checks.ts";
import type { ProofCheckContext } from "./proof-checks.ts";
import type { CredentialRefusal, PresentationRefusal } from "../refusals.ts";

/** The verdict on a credential; CredentialRefusal lists its codes. */
export type CredentialVerdict = Verdict<CredentialRefusal>;

/** The verdict on a presentation, with those on its credentials in `nested`. */
export type PresentationVerdict = Verdict<PresentationRefusal | CredentialRefusal>;

/** The caller's part of what a credential is checked against. */
type CredentialContext = Omit<CredentialCheckContext, keyof ProofCheckContext>;

type PresentationContext = CredentialContext &
  Omit<PresentationCheckContext, keyof ProofCheckContext>;

/** Checks a credential; the run asks for its signature and whether it is revoked. */
export function* checkCredential(
  value: unknown,
  context: CredentialContext,
): CheckRun<ExternalCheck, CredentialVerdict> {
  const read = parseSignedCredential(value);
  if (!read.ok) return toVerdict(buildRefusal("structure", read.code));
  const { document, signedBytes } = read;
  return toVerdict(yield* runChecks(CREDENTIAL_CHECKS, document, { ...context, signedBytes }));
}

/** Checks a presentation's own proof, and its credentials only if that proof is valid. */
export function* checkPresentation(
  value: unknown,
  context: PresentationContext,
): CheckRun<ExternalCheck, PresentationVerdict> {
  const read = parseSignedPresentation(value);
  if (!read.ok) return toVerdict(buildRefusal("structure", read.code));
  const { document, signedBytes } = read;
  const outcome = yield* runChecks(PRESENTATION_CHECKS, document, { ...context, signedBytes });
  if (outcome.refusal !== undefined) return toVerdict(outcome);

  const nested: CredentialVerdict[] = [];
  for (const credential of document.verifiableCredential) {
    nested.push(yield* checkCredential(credential, context));
  }
  return nested.every(({ valid }) => valid)
    ? toVerdict(
        { ...outcome, checks: [...outcome.checks, { name: "credentials", ok: true }] },
        nested,
      )
    : toVerdict(
        buildRefusal("credentials", "presentation.credential_invalid", outcome.checks),
        nested,
      );
}
