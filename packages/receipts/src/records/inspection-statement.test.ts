import { readFileSync } from "node:fs";
import { hexToBytes } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import {
  type DatedKey,
  type DecisionRecord,
  filterKeysAt,
  hashInspectionStatement,
  hashOutcomeRecord,
  type OutcomeRecord,
  RECEIPT_LIMITS,
  signDecisionRecord,
  signOutcomeRecord,
  signVerdictRecord,
  type VerdictRecord,
  verifyDecisionRecord,
  verifyOutcomeRecord,
  verifyVerdictRecord,
  type VerifyStatementOptions,
} from "../index.ts";

interface Party {
  readonly id: string;
  readonly seed: string;
  readonly public_key: string;
}

interface StatementVector {
  readonly kind: "verdict" | "decision" | "outcome";
  readonly name: string;
  readonly signer: string;
  readonly record: object;
  readonly expect: "valid" | "refused";
  /** Of a valid statement. */
  readonly hash?: string;
  readonly code?: string;
}

const file = new URL("../../../../vectors/own/inspection-words.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as {
  readonly task_id: string;
  readonly receipt_hash: string;
  readonly parties: Readonly<Record<string, Party>>;
  readonly cases: readonly StatementVector[];
};
const valid = vectors.cases.filter((vector) => vector.expect === "valid");
const subject = { taskId: vectors.task_id, receiptHash: vectors.receipt_hash };

function verifyVector(
  { kind, signer, record }: StatementVector,
  changes: VerifyStatementOptions = {},
) {
  const { id, public_key } = vectors.parties[signer]!;
  if (kind === "outcome") return verifyOutcomeRecord(record, { ...subject, publicKey: public_key });
  const options = { ...subject, signerId: id, publicKeys: [public_key], ...changes };
  return kind === "verdict"
    ? verifyVerdictRecord(record, options)
    : verifyDecisionRecord(record, options);
}

function signAgain({ kind, signer, record }: StatementVector): object {
  const secretKey = hexToBytes(vectors.parties[signer]!.seed);
  if (kind === "outcome") return signOutcomeRecord(record as OutcomeRecord, secretKey);
  return kind === "verdict"
    ? signVerdictRecord(record as VerdictRecord, secretKey)
    : signDecisionRecord(record as DecisionRecord, secretKey);
}

describe("inspection-words.json", () => {
  test.each(vectors.cases)("the verdict on the vector $kind, $name is $expect $code", (vector) => {
    const { valid: isValid, code } = verifyVector(vector);
    expect({ isValid, code }).toEqual({ isValid: vector.expect === "valid", code: vector.code });
  });

  test.each(valid)(
    "a valid record is signed and hashed as in the vectors: $kind, $name",
    (vector) => {
      expect(signAgain(vector)).toEqual(vector.record);
      const hash =
        vector.kind === "outcome"
          ? hashOutcomeRecord(vector.record as OutcomeRecord)
          : hashInspectionStatement(vector.record);
      expect(hash).toBe(vector.hash);
    },
  );
});

describe.each(valid.filter(({ kind }) => kind !== "outcome"))("$kind, $name", (vector) => {
  const { kind, signer, record } = vector;

  test("the checks of a statement run in one order", () => {
    expect(verifyVector(vector).checks.map(({ name }) => name)).toEqual([
      "structure",
      "suite",
      "signer",
      "task",
      "receipt",
      "key",
      "signature",
    ]);
  });

  test("a statement needs a key, and one of the keys must be the signer's", () => {
    const stranger = vectors.parties["stranger"]!.public_key;
    const own = vectors.parties[signer]!.public_key;
    expect(verifyVector(vector, { signerId: undefined }).valid).toBe(true);
    expect(verifyVector(vector, { publicKeys: [] }).code).toBe(`${kind}.key_missing`);
    expect(verifyVector(vector, { publicKeys: [stranger] }).code).toBe(`${kind}.signature_invalid`);
    expect(verifyVector(vector, { publicKeys: ["key"] }).code).toBe(`${kind}.signature_invalid`);
    expect(verifyVector(vector, { publicKeys: [stranger, own] }).valid).toBe(true);
  });

  test.each(Object.keys(record))("a statement is refused without its member %s", (member) => {
    const { [member]: _, ...rest } = record as Record<string, unknown>;
    expect(verifyVector({ ...vector, record: rest }).valid).toBe(false);
  });
});

test.each([undefined, null, 1, "", [], [{}]])("no statement is valid as %j", (value) => {
  expect(verifyVerdictRecord(value).code).toBe("verdict.malformed");
  expect(verifyDecisionRecord(value).code).toBe("decision.malformed");
  expect(verifyOutcomeRecord(value).code).toBe("outcome.malformed");
});

test("an outcome may be signed by a later key of its relay, not by an earlier one", () => {
  const [relay, stranger] = [vectors.parties["relay"]!, vectors.parties["stranger"]!];
  const outcome = valid.find(({ kind }) => kind === "outcome")!.record as OutcomeRecord;
  const later = signOutcomeRecord(outcome, hexToBytes(stranger.seed));
  const chain = (...keys: Party[]) => ({ relayKeys: keys.map(({ public_key }) => public_key) });
  expect(verifyOutcomeRecord(later, chain(relay, stranger)).valid).toBe(true);
  expect(verifyOutcomeRecord(later, chain(stranger, relay)).code).toBe("outcome.signature_invalid");
  expect(hashOutcomeRecord(later)).toBe(hashOutcomeRecord(outcome));
});

const HOUR = 3_600_000;
const SKEW = RECEIPT_LIMITS.statementSkewMs;
const key = (valid_from: number, valid_until: number | null): DatedKey => ({
  valid_from,
  valid_until,
});

test.each<[string, DatedKey, statedAt: number, counts: boolean]>([
  ["a key in use", key(HOUR, null), 9 * HOUR, true],
  ["a key five minutes before its start", key(HOUR, null), HOUR - SKEW, true],
  ["a key more than five minutes before its start", key(HOUR, null), HOUR - SKEW - 1, false],
  ["a key five minutes after its end", key(0, HOUR), HOUR + SKEW, true],
  ["a key more than five minutes after its end", key(0, HOUR), HOUR + SKEW + 1, false],
])("%s counts for a statement, or not", (_, dated, statedAt, counts) => {
  expect(filterKeysAt([dated], statedAt)).toEqual(counts ? [dated] : []);
  const device = { ...dated, device_id: "device" };
  expect(filterKeysAt([device], statedAt)).toEqual(counts ? [device] : []);
});
