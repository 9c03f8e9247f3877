import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { crossCheckGoal, crossCheckSteps, parseLedger, verifyLedger } from "./index.ts";

interface LedgerVector {
  readonly id: number;
  readonly cls: string;
  readonly why: string;
  /** The raw JSON text. */
  readonly ledger: string;
  /** The agent's registered key. */
  readonly key: string;
  readonly expect: "valid" | "invalid";
}

const file = new URL("../../../vectors/own/ledgers.jsonl", import.meta.url);
const vectors = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as LedgerVector);

test("ledgers.jsonl has 36 vectors", () => {
  expect(vectors).toHaveLength(36);
});

test("the README names the key of the ledger to which it refers", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [publicKey = ""] = /[0-9a-f]{64}/.exec(readme) ?? [];
  expect(verifyLedger(vectors[0]?.ledger ?? "", { publicKey }).valid).toBe(true);
});

describe("ledgers.jsonl with native cryptography", () => {
  test.each(vectors)("$id $cls: $why", (vector) => {
    const { valid } = verifyLedger(vector.ledger, { publicKey: vector.key });
    expect(valid ? "valid" : "invalid").toBe(vector.expect);
  });
});

describe("ledgers.jsonl with portable cryptography", () => {
  let portable: typeof import("./index.ts");

  beforeAll(async () => {
    vi.resetModules();
    vi.doMock("@agent/crypto", async (original) => ({
      ...(await original<object>()),
      ...(await import("@agent/crypto/portable")),
    }));
    portable = await import("./index.ts");
  });
  afterAll(() => {
    vi.doUnmock("@agent/crypto");
    vi.resetModules();
  });

  test("the verifier uses the portable implementation", async () => {
    const used = await import("@agent/crypto");
    expect(used.verify).toBe((await import("@agent/crypto/portable")).verify);
  });

  test.each(vectors)("$id $cls: $why", ({ ledger, key }) => {
    const verdict = portable.verifyLedger(ledger, { publicKey: key });
    expect(verdict).toEqual(verifyLedger(ledger, { publicKey: key }));
  });
});

describe("the refused vectors have the codes of their faults", () => {
  const codes: Record<string, string> = {
    "event-dropped": "ledger.content_hash_mismatch",
    "event-swapped": "ledger.content_hash_mismatch",
    "event-changed": "ledger.content_hash_mismatch",
    "hash-of-array": "ledger.content_hash_mismatch",
    "hash-trailing-newline": "ledger.content_hash_mismatch",
    "hash-upper": "ledger.malformed",
    "hash-signed-as-hex": "ledger.signature_invalid",
    "wrong-key": "ledger.signature_invalid",
    "spec-wrong": "ledger.spec",
  };

  test("the table of codes lists every class of refused vectors", () => {
    const refused = vectors.filter((vector) => vector.expect === "invalid").map(({ cls }) => cls);
    expect(new Set(refused)).toEqual(new Set(Object.keys(codes)));
  });

  test.each(Object.entries(codes))("%s: %s", (cls, code) => {
    const answers = vectors
      .filter((vector) => vector.cls === cls)
      .map(({ ledger, key }) => verifyLedger(ledger, { publicKey: key }).code);
    expect(new Set(answers)).toEqual(new Set([code]));
  });
});

test("the steps of a valid vector do not contradict its timeline", () => {
  const valid = vectors.filter((vector) => vector.expect === "valid");
  const found = valid.map(({ ledger }) => {
    const parsed = parseLedger(ledger);
    return parsed.ok ? [...crossCheckGoal(parsed.ledger), ...crossCheckSteps(parsed.ledger)] : null;
  });
  expect(found).toEqual(valid.map(() => []));
});
