import { canonicalize, sha256Hex, SUITE } from "@agent/crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alice, bob, buildBody, buildSignedReceipt, createSigner } from "../../test/fixtures.ts";
import {
  type ExecutionReceipt,
  type ReceiptBody,
  hashReceipt,
  signReceipt,
  verifyReceipt,
} from "../index.ts";

const hex64 = fc.string({
  unit: fc.constantFrom(..."0123456789abcdef".split("")),
  minLength: 64,
  maxLength: 64,
});
const text = fc.string({ unit: "grapheme", minLength: 1 });

/**
 * Generates bodies that sign to valid receipts, with members that the specification does not name.
 */
const bodies: fc.Arbitrary<ReceiptBody> = fc
  .record({
    named: fc.record({
      task_id: text,
      agent_id: fc.uuid({ version: [4, 7, 8] }),
      device_id: text,
      submitted_at: fc.integer({ min: 0, max: 4e12 }),
      status: fc.constantFrom("completed", "failed", "denied"),
      result: fc.string({ unit: "grapheme" }),
      tools_used: fc.array(text),
      memories_formed: fc.nat(),
      prompt_hash: hex64,
      relay_task_id: fc.option(text, { nil: undefined }),
    }),
    span: fc.integer({ min: -60_000, max: 3_600_000 }),
    unnamed: fc.dictionary(
      fc.string({ unit: "grapheme" }),
      fc.jsonValue({ noUnicodeString: false, depthSize: "small" }),
    ),
  })
  .map(({ named, span, unnamed }) => ({
    ...unnamed,
    ...named,
    completed_at: named.submitted_at + span,
    result_hash: sha256Hex(named.result),
  }));

describe("signing", () => {
  test("signing sets the suite and covers all other members", () => {
    const { signature, ...unsigned } = buildSignedReceipt();
    expect(unsigned).toEqual({ ...buildBody(), suite: SUITE });
    expect(signature).toMatch(/^[A-Za-z0-9_-]{85}[AQgw]$/);
  });

  test("signing does not change the body", () => {
    const before = Object.freeze(buildBody());
    signReceipt(before, alice.secretKey);
    expect(before).toEqual(buildBody());
  });

  test("signing replaces an existing suite and signature", () => {
    const old = { ...buildSignedReceipt(), suite: "old" };
    expect(signReceipt(old, alice.secretKey)).toEqual(buildSignedReceipt());
  });

  test("signing a body without a canonical form throws", () => {
    expect(() => buildSignedReceipt({ result: "\udc00" })).toThrow("lone surrogate");
  });

  test("a signed receipt with any body is valid", () => {
    fc.assert(
      fc.property(bodies, fc.integer({ min: 0, max: 255 }), (unsigned, seed) => {
        const { publicKey, secretKey } = createSigner(seed);
        const sent = JSON.stringify(signReceipt(unsigned, secretKey));
        const verdict = verifyReceipt(sent, { publicKey });
        expect(verdict).toMatchObject({ valid: true });
        expect(verdict.checks.every(({ ok }) => ok)).toBe(true);
      }),
    );
  });

  test("signing by another key produces a receipt that is refused", () => {
    fc.assert(
      fc.property(bodies, (unsigned) => {
        const receipt = signReceipt(unsigned, bob.secretKey);
        expect(verifyReceipt(receipt, { publicKey: alice.publicKey }).code).toBe(
          "receipt.signature_invalid",
        );
      }),
    );
  });
});

describe("members of signed receipts", () => {
  const changed = (receipt: ExecutionReceipt, member: string, value: unknown) =>
    verifyReceipt({ ...receipt, [member]: value }, { publicKey: alice.publicKey });

  test("a member of a signed receipt cannot be changed to any other value", () => {
    fc.assert(
      fc.property(
        bodies.map((unsigned) => signReceipt(unsigned, alice.secretKey)),
        fc.nat(),
        fc.oneof(fc.jsonValue(), text, hex64, fc.integer(), fc.constant(undefined)),
        (receipt, pick, value) => {
          const members = Object.keys(receipt);
          const member = members[pick % members.length] ?? "";
          const old: unknown = Object.getOwnPropertyDescriptor(receipt, member)?.value;
          fc.pre(canonicalize([old ?? null]) !== canonicalize([value ?? null]));
          expect(changed(receipt, member, value).valid).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a member of a signed receipt cannot be added", () => {
    fc.assert(
      fc.property(text, fc.jsonValue(), (member, value) => {
        fc.pre(!(member in buildSignedReceipt()));
        expect(changed(buildSignedReceipt(), member, value).valid).toBe(false);
      }),
    );
  });

  test.each(Object.keys(buildSignedReceipt()))(
    "the member %s of a signed receipt cannot be removed",
    (member) => {
      expect(changed(buildSignedReceipt(), member, undefined).valid).toBe(false);
    },
  );
});

describe("the hash of a receipt", () => {
  test("the hash of a receipt is the SHA-256 of its canonical JSON, signature included", () => {
    expect(hashReceipt(buildSignedReceipt())).toBe(sha256Hex(canonicalize(buildSignedReceipt())));
    expect(hashReceipt({ ...buildSignedReceipt(), signature: "other" })).not.toBe(
      hashReceipt(buildSignedReceipt()),
    );
  });

  test("the hash of a receipt does not depend on the order of members", () => {
    fc.assert(
      fc.property(
        bodies.chain((unsigned) =>
          fc
            .shuffledSubarray(Object.entries(unsigned), {
              minLength: Object.keys(unsigned).length,
            })
            .map((entries) => [unsigned, Object.fromEntries(entries)] as const),
        ),
        ([unsigned, shuffled]) => {
          expect(
            hashReceipt(signReceipt(shuffled as unknown as ReceiptBody, alice.secretKey)),
          ).toBe(hashReceipt(signReceipt(unsigned, alice.secretKey)));
        },
      ),
    );
  });
});
