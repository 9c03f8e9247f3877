import type { Check } from "@agent/crypto";
import type { VerifiableCredential } from "./schema.ts";

/** What only the verifier's driver can tell: at once, off the event loop, or from a database. */
export type Question =
  | {
      readonly ask: "signature";
      readonly signature: Uint8Array;
      readonly signedBytes: Uint8Array;
      readonly publicKey: Uint8Array;
    }
  | { readonly ask: "not_revoked"; readonly credential: VerifiableCredential };

/** A judgement that asks its driver on the way and is answered with whether it holds. */
export type Judgement<Result> = Generator<Question, Result, boolean>;

/** One check of a document; undefined when it has nothing to ask of this one. */
export type Rung<Document, Known, Refusal extends string, Remark extends string = never> = {
  readonly name: string;
  readonly holds: (document: Document, known: Known) => boolean | Question | undefined;
} & (
  | {
      /** Who fails here is refused, and no later rung is judged. */
      readonly refusal: Refusal;
    }
  | {
      /** Who fails here stays valid, and the verdict points it out. */
      readonly remark: Remark;
    }
);

export interface Climbed<Refusal extends string> {
  readonly checks: readonly Check[];
  readonly refusal: Refusal | undefined;
}

/** Judges one rung after another, up to the first that refuses. */
export function* climb<Document, Known, Refusal extends string, Remark extends string>(
  ladder: readonly Rung<Document, Known, Refusal, Remark>[],
  document: Document,
  known: Known,
): Judgement<Climbed<Refusal>> {
  const checks: Check[] = [{ name: "structure", ok: true }];
  for (const rung of ladder) {
    const answer = rung.holds(document, known);
    const ok = typeof answer === "object" ? yield answer : answer;
    if (ok === undefined) continue;
    const { name } = rung;
    if (ok) checks.push({ name, ok });
    else if ("refusal" in rung) return refusedAt(name, rung.refusal, checks);
    else checks.push({ name, ok, code: rung.remark });
  }
  return { checks, refusal: undefined };
}

/** The end of a climb: the rungs that held and the one that refused. */
export function refusedAt<Refusal extends string>(
  name: string,
  refusal: Refusal,
  above: readonly Check[] = [],
): Climbed<Refusal> {
  return { checks: [...above, { name, ok: false, code: refusal }], refusal };
}
