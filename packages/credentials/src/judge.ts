import type { Verdict } from "@agent/crypto";
import { climb, type Climbed, type Judgement, refusedAt } from "./climb.ts";
import { CREDENTIAL_LADDER } from "./credential-ladder.ts";
import { readCredential, readPresentation } from "./parse.ts";
import { PRESENTATION_LADDER } from "./presentation-ladder.ts";
import type { CredentialRefusal, PresentationRefusal } from "./refusals.ts";

export type CredentialVerdict = Verdict<CredentialRefusal>;
export type PresentationVerdict = Verdict<PresentationRefusal | CredentialRefusal>;

interface CredentialContext {
  readonly now: number;
  readonly asksRevocation: boolean;
}

interface PresentationContext extends CredentialContext {
  readonly challenge: string | undefined;
  readonly audience: string | undefined;
}

export function* judgeCredential(
  value: unknown,
  context: CredentialContext,
): Judgement<CredentialVerdict> {
  const read = readCredential(value);
  if (!read.ok) return verdictOf(refusedAt("structure", read.code));
  const { document, signedBytes } = read;
  return verdictOf(yield* climb(CREDENTIAL_LADDER, document, { ...context, signedBytes }));
}

/** The credentials of a presentation are judged when its own proof holds: else nobody shows them. */
export function* judgePresentation(
  value: unknown,
  context: PresentationContext,
): Judgement<PresentationVerdict> {
  const read = readPresentation(value);
  if (!read.ok) return verdictOf(refusedAt("structure", read.code));
  const { document, signedBytes } = read;
  const outer = yield* climb(PRESENTATION_LADDER, document, { ...context, signedBytes });
  if (outer.refusal !== undefined) return verdictOf(outer);

  const nested: CredentialVerdict[] = [];
  for (const credential of document.verifiableCredential) {
    nested.push(yield* judgeCredential(credential, context));
  }
  return nested.every(({ valid }) => valid)
    ? verdictOf({ ...outer, checks: [...outer.checks, { name: "credentials", ok: true }] }, nested)
    : verdictOf(refusedAt("credentials", "presentation.credential_invalid", outer.checks), nested);
}

function verdictOf<Refusal extends string>(
  { checks, refusal }: Climbed<Refusal>,
  nested: readonly Verdict<Refusal>[] = [],
): Verdict<Refusal> {
  return refusal === undefined
    ? { valid: true, checks, nested }
    : { valid: false, code: refusal, checks, nested };
}
