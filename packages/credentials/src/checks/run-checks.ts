import type { CheckResult } from "@agent/crypto";
import type { VerifiableCredential } from "../schema.ts";

/** What only the verifier's driver can tell: at once, off the event loop, or from a database. */
export type ExternalCheck =
  | {
      readonly kind: "signature";
      readonly signature: Uint8Array;
      readonly signedBytes: Uint8Array;
      readonly publicKey: Uint8Array;
    }
  | { readonly kind: "not_revoked"; readonly credential: VerifiableCredential };

/** A judgement that asks its driver on the way and is answered with whether it holds. */
export type CheckRun<Result> = Generator<ExternalCheck, Result, boolean>;

/** One check of a document; undefined when it has nothing to ask of this one. */
export type Check<Document, Context, Refusal extends string, Remark extends string = never> = {
  readonly name: string;
  readonly test: (document: Document, known: Context) => boolean | ExternalCheck | undefined;
} & (
  | {
      /** Who fails here is refused, and no later rung is judged. */
      readonly refusal: Refusal;
    }
  | {
      /** Who fails here stays valid, and the verdict points it out. */
      readonly warning: Remark;
    }
);

export interface CheckOutcome<Refusal extends string> {
  readonly checks: readonly CheckResult[];
  readonly refusal: Refusal | undefined;
}

/** Judges one rung after another, up to the first that refuses. */
export function* runChecks<Document, Context, Refusal extends string, Remark extends string>(
  orderedChecks: readonly Check<Document, Context, Refusal, Remark>[],
  document: Document,
  context: Context,
): CheckRun<CheckOutcome<Refusal>> {
  const checks: CheckResult[] = [{ name: "structure", ok: true }];
  for (const check of orderedChecks) {
    const outcome = check.test(document, context);
    const ok = typeof outcome === "object" ? yield outcome : outcome;
    if (ok === undefined) continue;
    const { name } = check;
    if (ok) checks.push({ name, ok });
    else if ("refusal" in check) return buildRefusal(name, check.refusal, checks);
    else checks.push({ name, ok, code: check.warning });
  }
  return { checks, refusal: undefined };
}

/** The end of a climb: the rungs that held and the one that refused. */
export function buildRefusal<Refusal extends string>(
  name: string,
  refusal: Refusal,
  passed: readonly CheckResult[] = [],
): CheckOutcome<Refusal> {
  return { checks: [...passed, { name, ok: false, code: refusal }], refusal };
}
