import {
  buildRefusal,
  type Check,
  hexToBytes,
  runLocalChecks,
  signJson,
  SUITE,
  toVerdict,
  unlessMalformed,
  type Verdict,
  verifyJsonByAny,
} from "@agent/crypto";
import * as v from "valibot";

/** The rules of one kind of record that a relay signs like a receipt. */
interface RecordRules<Members, Context, Kind extends string, Refusal extends string> {
  /** The first part of the codes, such as `settlement`. */
  readonly kind: Kind;
  readonly schema: v.GenericSchema<Members>;
  /** The checks between the suite and the signature. */
  readonly checks: readonly Check<Members, Context, Refusal>[];
  /** Returns the keys, one of which must have signed, as 64 hex digits, the most likely first. */
  readonly listKeys: (record: Members, context: Context) => readonly string[];
}

type RecordRefusal<Kind extends string> = `${Kind}.${"malformed" | "suite" | "signature_invalid"}`;

/** Returns the body with `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signRecord<Body extends object>(body: Body, secretKey: Uint8Array) {
  return signJson({ ...body, suite: SUITE }, secretKey);
}

/** Returns a function that verifies records of one kind and never throws on a value. */
export function createRecordVerifier<
  Members extends { readonly suite: string },
  Context,
  Kind extends string,
  Refusal extends string,
>({
  kind,
  schema,
  checks,
  listKeys,
}: RecordRules<Members, Context, Kind, Refusal>): (
  value: unknown,
  context: Context,
) => Verdict<Refusal | RecordRefusal<Kind>> {
  const allChecks: readonly Check<Members, Context, Refusal | RecordRefusal<Kind>>[] = [
    { name: "suite", refusal: `${kind}.suite`, test: ({ suite }) => suite === SUITE },
    ...checks,
    {
      name: "signature",
      refusal: `${kind}.signature_invalid`,
      test: (record, context) =>
        verifyJsonByAny(
          record,
          listKeys(record, context).flatMap((key) => unlessMalformed(() => hexToBytes(key)) ?? []),
        ),
    },
  ];
  return (value, context) =>
    toVerdict(
      v.is(schema, value)
        ? runLocalChecks(allChecks, value, context)
        : buildRefusal("structure", `${kind}.malformed` as const),
    );
}
