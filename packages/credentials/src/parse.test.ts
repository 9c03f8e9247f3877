import { describe, expect, test } from "vitest";
import { alice, issueTestCredential, now, createTestPresentation } from "../test/fixtures.ts";
import { parseCredential, verifyPresentation } from "./index.ts";

const good = issueTestCredential();
const { proof } = good;
const context = "https://www.w3.org/ns/credentials/v2";

describe("the members of a credential", () => {
  const date = "2026-01-02T05:14:54Z";
  const texts = { right: ["x"], wrong: [undefined, null, "", 1, ["x"], {}] };
  const dates = [null, "", 1, now, "2026-01-02", "2026-02-30T00:00:00Z", "tomorrow"];

  const rules: [member: string, right: unknown[], wrong: unknown[]][] = [
    [
      "@context",
      [[context], [context, "https://example.org/v1"]],
      [undefined, null, context, [], [1], ["https://example.org/v1", context], [[context]]],
    ],
    [
      "type",
      [["VerifiableCredential"], ["Other", "VerifiableCredential"]],
      [undefined, null, "VerifiableCredential", [], ["AgentTrustCredential"], [null]],
    ],
    ["id", [undefined, "urn:uuid:1"], [null, "", 1, {}]],
    ["issuer", texts.right, [...texts.wrong, { id: alice.did }]],
    ["validFrom", [date], [undefined, ...dates]],
    ["validUntil", [undefined, date], dates],
    ["credentialSubject", [{ id: "x" }, { id: "x", a: [1] }], [undefined, null, {}, [], "x"]],
    ["proof", [proof], [undefined, null, "x"]],
  ];
  const proofRules: typeof rules = [
    ["type", texts.right, texts.wrong],
    ["cryptosuite", texts.right, texts.wrong],
    ["created", [date], [undefined, ...dates]],
    ["expires", [undefined, date], dates],
    ["verificationMethod", texts.right, texts.wrong],
    ["proofPurpose", texts.right, texts.wrong],
    ["proofValue", texts.right, texts.wrong],
    ["@context", [undefined, [context], []], [null, context, [1]]],
    ["challenge", [undefined, "x"], [null, "", 1]],
    ["domain", [undefined, "x"], [null, "", ["x"]]],
    ["previousProof", [undefined], [null, "urn:uuid:1", []]],
  ];

  const casesOf = (table: typeof rules) =>
    table.flatMap(([member, right, wrong]) => [
      ...right.map((value) => ({ member, value, fault: null })),
      ...wrong.map((value) => ({ member, value, fault: member })),
    ]);
  const faultOf = (value: unknown) => {
    const parsed = parseCredential(value);
    return parsed.ok ? null : { code: parsed.code, member: parsed.path.replace(/\.(\d+|id)$/, "") };
  };
  const malformed = (member: string) => ({ code: "credential.malformed", member });

  test.each(casesOf(rules))(
    "a credential whose $member is $value has a fault in: $fault",
    ({ member, value, fault }) => {
      const found = faultOf({ ...good, [member]: value });
      expect(found).toEqual(fault && malformed(fault));
    },
  );

  test.each(casesOf(proofRules))(
    "a credential whose proof has the $member $value has a fault in: $fault",
    ({ member, value, fault }) => {
      const found = faultOf({ ...good, proof: { ...proof, [member]: value } });
      expect(found).toEqual(fault && malformed(`proof.${fault}`));
    },
  );

  const presentation = createTestPresentation();
  test.each([
    ["@context", [context, "x"], ["x"]],
    ["type", ["VerifiablePresentation", "Other"], ["VerifiableCredential"]],
    ["holder", "x", { id: alice.did }],
    ["verifiableCredential", [], good],
    ["verifiableCredential", [good], [JSON.stringify(good)]],
    ["verifiableCredential", [good, good], [good, { ...good, proof: null }]],
    ["verifiableCredential", Array(256).fill(good), Array(257).fill(good)],
    ["proof", presentation.proof, [presentation.proof]],
  ])("the parser checks %s of a presentation", (member, right, wrong) => {
    const codeWith = (value: unknown) =>
      verifyPresentation({ ...presentation, [member]: value }, { now }).code;
    expect(codeWith(right)).not.toBe("presentation.malformed");
    expect(codeWith(wrong)).toBe("presentation.malformed");
  });
});

describe("a credential is plain JSON data with a canonical form", () => {
  const nestedArrays = (depth: number): unknown => (depth === 0 ? 1 : [nestedArrays(depth - 1)]);
  const cyclic: Record<string, unknown> = { ...good };
  cyclic["self"] = cyclic;

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 1],
    ["a list", [good]],
    ["a list with a credential's members", Object.assign([], good)],
    ["an instance of a class", Object.assign(new Error("x"), good)],
    ["a lone surrogate in an unknown member", { ...good, note: "\ud800" }],
    ["a lone surrogate in the proof", { ...good, proof: { ...proof, note: "\ud800" } }],
    ["a number that is not finite", { ...good, note: Infinity }],
    ["a function", { ...good, note: () => 1 }],
    ["64 levels under the credential", { ...good, note: nestedArrays(64) }],
    ["a cycle", cyclic],
  ])("a credential is refused as plain JSON data: %s", (_, value) => {
    expect(parseCredential(value)).toMatchObject({ ok: false, code: "credential.malformed" });
  });

  test("63 levels below a credential are accepted", () => {
    expect(parseCredential({ ...good, note: nestedArrays(63) }).ok).toBe(true);
  });

  test("the parser returns the given credential with its unknown members", () => {
    const given: unknown = JSON.parse(
      JSON.stringify({ ...good, note: 1 }).replace("{", '{"__proto__":{"a":1},"toJSON":2,'),
    );
    const parsed = parseCredential(given);
    expect(parsed.ok && parsed.credential).toBe(given);
  });
});

describe("the JSON text of a credential", () => {
  test.each([
    ["as it is signed", good],
    ["with quotes, colons and backslashes in its strings", { ...good, 'a":\\"{': '":\\\\":' }],
    ["with lists of lists", { ...good, note: [[], [{}, { a: [1, { b: 2 }] }]] }],
  ])("a credential's JSON text is parsed like the value: %s", (_, value) => {
    expect(parseCredential(JSON.stringify(value, null, 1))).toEqual(parseCredential(value));
    expect(parseCredential(value).ok).toBe(true);
  });

  const text = JSON.stringify(good);
  test.each([
    ["no JSON", "{"],
    ["empty", ""],
    ["a JSON string", JSON.stringify(text)],
    ["a member twice", text.replace("{", '{"issuer":"did:key:z",')],
    ["a member of the subject twice", text.replace('"success_rate"', '"id":"a","success_rate"')],
    ["a member twice in other spelling", text.replace("{", '{"iss\\u0075er":"did:key:z",')],
    ["100,000 levels deep", "[".repeat(100_000) + "]".repeat(100_000)],
  ])("a credential's JSON text is refused when it is %s", (_, wrong) => {
    expect(parseCredential(wrong)).toMatchObject({ ok: false, code: "credential.malformed" });
  });

  test("a credential's JSON text is parsed with a string of a megabyte", () => {
    const long = { ...good, note: '"\\'.repeat(500_000) };
    expect(parseCredential(JSON.stringify(long)).ok).toBe(true);
  });
});
