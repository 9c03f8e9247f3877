import { verify, verifyAsync } from "@agent/crypto";
import type { Judgement, Question } from "./climb.ts";
import {
  type CredentialVerdict,
  judgeCredential,
  judgePresentation,
  type PresentationVerdict,
} from "./judge.ts";
import type { VerifiableCredential } from "./schema.ts";

type MaybeLater = boolean | Promise<boolean>;

/** What the verifier knows besides the credential. */
export interface VerifyOptions<Answer extends MaybeLater = boolean> {
  /** The verifier's clock in ms since the epoch; no tolerance is added to it. */
  readonly now: number;
  /** Whether an authentic credential was revoked; without it nobody is asked. */
  readonly isRevoked?: ((credential: VerifiableCredential) => Answer) | undefined;
}

/** As for a credential; what is left out is not asked. */
export interface VerifyPresentationOptions<
  Answer extends MaybeLater = boolean,
> extends VerifyOptions<Answer> {
  /** What the presentation has to be signed with. */
  readonly challenge?: string | undefined;
  /** Whom the presentation has to be made for. */
  readonly audience?: string | undefined;
}

/**
 * Judges a credential, given as a value or as its JSON text, by the did:key that issued it
 * (specification, Credentials). Never throws on what it is handed: a refused credential has its
 * `code`, of which CredentialRefusal is the list, and a rung that fails on a valid one is a remark
 * (CredentialRemark).
 */
export function verifyCredential(
  credential: object | string,
  options: VerifyOptions,
): CredentialVerdict {
  return conclude(judgeCredential(credential, contextOf(options)), options);
}

/** As `verifyCredential`, with the signature checked off the event loop where there are threads. */
export async function verifyCredentialAsync(
  credential: object | string,
  options: VerifyOptions<MaybeLater>,
): Promise<CredentialVerdict> {
  return concludeAsync(judgeCredential(credential, contextOf(options)), options);
}

/**
 * Judges a presentation, given as a value or as its JSON text, and each credential in it; one
 * refused credential refuses it. PresentationRefusal lists its codes.
 */
export function verifyPresentation(
  presentation: object | string,
  options: VerifyPresentationOptions,
): PresentationVerdict {
  return conclude(judgePresentation(presentation, contextOf(options)), options);
}

/** As `verifyPresentation`, with the signatures checked off the event loop. */
export async function verifyPresentationAsync(
  presentation: object | string,
  options: VerifyPresentationOptions<MaybeLater>,
): Promise<PresentationVerdict> {
  return concludeAsync(judgePresentation(presentation, contextOf(options)), options);
}

function contextOf({ now, isRevoked, challenge, audience }: VerifyPresentationOptions<MaybeLater>) {
  return { now, asksRevocation: isRevoked !== undefined, challenge, audience };
}

function conclude<Result>(judgement: Judgement<Result>, options: VerifyOptions): Result {
  let step = judgement.next();
  while (!step.done) step = judgement.next(answer(step.value, options));
  return step.value;
}

async function concludeAsync<Result>(
  judgement: Judgement<Result>,
  options: VerifyOptions<MaybeLater>,
): Promise<Result> {
  let step = judgement.next();
  while (!step.done) step = judgement.next(await answerAsync(step.value, options));
  return step.value;
}

function answer(question: Question, { isRevoked }: VerifyOptions): boolean {
  switch (question.ask) {
    case "signature":
      return verify(question.signature, question.signedBytes, question.publicKey);
    case "not_revoked":
      // Only a plain "no" counts: a promise, in a caller without types, is none.
      return isRevoked?.(question.credential) === false;
  }
}

async function answerAsync(
  question: Question,
  { isRevoked }: VerifyOptions<MaybeLater>,
): Promise<boolean> {
  switch (question.ask) {
    case "signature":
      return verifyAsync(question.signature, question.signedBytes, question.publicKey);
    case "not_revoked":
      return (await isRevoked?.(question.credential)) === false;
  }
}
