import type { CheckResult, Verdict } from "./verdict.ts";

/**
 * One check of a document. `test` returns whether the document passes, undefined if the check does not
 * apply to it, or an object that describes a check which the caller of `runChecks` must perform.
 */
export type Check<
  Document,
  Context,
  Refusal extends string,
  Warning extends string = never,
  External extends object = never,
> = {
  readonly name: string;
  readonly test: (document: Document, context: Context) => boolean | External | undefined;
} & (
  | {
      /** A document that fails is refused with this code, and no later check runs. */
      readonly refusal: Refusal;
    }
  | {
      /** A document that fails stays valid; the verdict lists this code. */
      readonly warning: Warning;
    }
);

/** A run of checks: yields each check that the caller must perform, and receives whether it passed. */
export type CheckRun<External extends object, Result> = Generator<External, Result, boolean>;

/** The results up to the check that refused, if one did. */
export interface CheckOutcome<Refusal extends string> {
  readonly checks: readonly CheckResult[];
  readonly refusal: Refusal | undefined;
}

/** Runs checks in order up to the first refusal, on a document whose structure has been checked. */
export function* runChecks<
  Document,
  Context,
  Refusal extends string,
  Warning extends string,
  External extends object,
>(
  orderedChecks: readonly Check<Document, Context, Refusal, Warning, External>[],
  document: Document,
  context: Context,
): CheckRun<External, CheckOutcome<Refusal>> {
  const checks: CheckResult[] = [{ name: "structure", ok: true }];
  for (const check of orderedChecks) {
    const result = check.test(document, context);
    const ok = typeof result === "object" ? yield result : result;
    if (ok === undefined) continue;
    const { name } = check;
    if (ok) checks.push({ name, ok });
    else if ("refusal" in check) return buildRefusal(name, check.refusal, checks);
    else checks.push({ name, ok, code: check.warning });
  }
  return { checks, refusal: undefined };
}

/** Runs checks that need no answer from their caller. */
export function runLocalChecks<
  Document,
  Context,
  Refusal extends string,
  Warning extends string = never,
>(
  orderedChecks: readonly Check<Document, Context, Refusal, Warning>[],
  document: Document,
  context: Context,
): CheckOutcome<Refusal> {
  return completeChecks(runChecks(orderedChecks, document, context), (external: never) => external);
}

/** Completes a run; `answer` performs a check for the run and returns whether it passes. */
export function completeChecks<External extends object, Result>(
  run: CheckRun<External, Result>,
  answer: (external: External) => boolean,
): Result {
  let step = run.next();
  while (!step.done) step = run.next(answer(step.value));
  return step.value;
}

/** Completes a run like `completeChecks` and awaits each answer. */
export async function completeChecksAsync<External extends object, Result>(
  run: CheckRun<External, Result>,
  answer: (external: External) => boolean | Promise<boolean>,
): Promise<Result> {
  let step = run.next();
  // oxlint-disable-next-line no-await-in-loop -- A check runs only if all checks before it passed.
  while (!step.done) step = run.next(await answer(step.value));
  return step.value;
}

/** Builds the outcome of a document that the check `name` refused. */
export function buildRefusal<Refusal extends string>(
  name: string,
  refusal: Refusal,
  passed: readonly CheckResult[] = [],
): CheckOutcome<Refusal> {
  return { checks: [...passed, { name, ok: false, code: refusal }], refusal };
}

/** Returns the verdict for an outcome, with one verdict per signed document inside. */
export function toVerdict<Refusal extends string>(
  { checks, refusal }: CheckOutcome<Refusal>,
  nested: readonly Verdict<Refusal>[] = [],
): Verdict<Refusal> {
  return refusal === undefined
    ? { valid: true, checks, nested }
    : { valid: false, code: refusal, checks, nested };
}
