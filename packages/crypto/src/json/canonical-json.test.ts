import { readFileSync } from "node:fs";
import fc from "fast-check";
import { canonicalize as oracle } from "json-canonicalize";
import { describe, expect, test } from "vitest";
import { canonicalize, CanonicalJsonError, canonicalizeSigned } from "./canonical-json.ts";
import { hexToBytes } from "../formats.ts";
import * as native from "../sha256/sha256.node.ts";
import * as portable from "../sha256/sha256-portable.ts";

const readLines = (name: string) =>
  readFileSync(new URL(`../../../../vectors/${name}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");

const readCases = <T>(name: string) => readLines(name).map((line) => JSON.parse(line) as T);

describe("published documents", () => {
  test.each(
    readCases<{ name: string; input: string; canonical: string; outhex: string }>(
      "jcs/cyberphone.jsonl",
    ),
  )(
    "the canonical text of the published document $name is the published one",
    ({ input, canonical, outhex }) => {
      const text = canonicalize(JSON.parse(input));
      expect(text).toBe(canonical);
      expect(Buffer.from(text).toString("hex")).toBe(outhex);
    },
  );

  test.each(
    readCases<{ id: number; input: string; canonical: string; sha256: string }>("own/jcs.jsonl"),
  )(
    "the canonical text of the own document $id is the stated one",
    ({ input, canonical, sha256 }) => {
      const text = canonicalize(JSON.parse(input));
      expect(text).toBe(canonical);
      expect([native.sha256Hex(text), portable.sha256Hex(text)]).toEqual([sha256, sha256]);
    },
  );
});

test.each(["jcs/es6numbers-first1000.csv", "jcs/es6numbers-2169-4168.csv", "own/numbers.csv"])(
  "numbers are written as %s publishes them",
  (name) => {
    const wrong = readLines(name).filter((line) => {
      const [hex, text] = line.split(",") as [string, string];
      const bytes = hexToBytes(hex.padStart(16, "0"));
      return canonicalize(new DataView(bytes.buffer).getFloat64(0)) !== text;
    });
    expect(wrong).toEqual([]);
  },
);

const json = fc.jsonValue({ stringUnit: "binary" });

describe("canonical text", () => {
  test("canonical text equals the output of json-canonicalize", () => {
    fc.assert(fc.property(json, (value) => canonicalize(value) === oracle(value)));
  });

  test("canonical text parses to the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalize(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("canonical text does not depend on the order of members", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "binary" }), json), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).toReversed());
        expect(canonicalize(reversed)).toBe(canonicalize(object));
      }),
    );
  });

  test("canonical text orders members by UTF-16 code units, digits included", () => {
    const text = canonicalize({ "\ufb33": 1, "\u{1f600}": 2, b: 3, a: 4, "10": 5, "9": 6, "": 7 });
    expect(text).toBe('{"":7,"10":5,"9":6,"a":4,"b":3,"\u{1f600}":2,"\ufb33":1}');
  });

  test("canonical text escapes short and long texts alike", () => {
    for (const length of [1, 47, 48, 49, 500]) {
      for (const unit of ["a", '"', "\\", "\u007f", "\u0000", "\u001f", "/", "é", "\u2028"]) {
        const text = unit.repeat(length);
        expect(canonicalize(text)).toBe(JSON.stringify(text));
      }
    }
  });

  test("canonical text writes minus zero as 0", () => {
    expect(canonicalize(-0)).toBe("0");
  });
});

describe("ordinary data", () => {
  test("canonicalize treats members named toJSON and __proto__ as data", () => {
    const value: unknown = JSON.parse('{"toJSON":{"b":1,"a":2},"__proto__":{"x":[]}}');
    expect(canonicalize(value)).toBe('{"__proto__":{"x":[]},"toJSON":{"a":2,"b":1}}');
  });

  test("canonicalize leaves out members that are undefined", () => {
    expect(canonicalize({ b: undefined, a: 1, c: undefined })).toBe('{"a":1}');
  });

  test("canonicalize accepts an object that occurs twice", () => {
    const shared = { a: 1 };
    expect(canonicalize([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  test("canonicalize accepts an object without a prototype", () => {
    expect(canonicalize(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test("canonicalize accepts a nesting of 64", () => {
    expect(canonicalize(nested(64))).toBe("[".repeat(64) + "]".repeat(64));
  });
});

describe("the texts of an object that carries its own signature", () => {
  const withSignature = fc
    .tuple(fc.dictionary(fc.string({ unit: "binary" }), json), fc.option(json, { nil: undefined }))
    .map(([members, signature]): object => ({ ...members, signature }));

  test("the texts of a signed object are those of the object with and without its signature", () => {
    fc.assert(
      fc.property(withSignature, (value) => {
        expect(canonicalizeSigned(value)).toEqual({
          text: canonicalize(value),
          signedText: canonicalize({ ...value, signature: undefined }),
        });
      }),
    );
  });

  test("the texts of a signed object leave out only the outer signature", () => {
    expect(canonicalizeSigned({ z: { signature: 1 }, signature: 2, a: 3 })).toEqual({
      text: '{"a":3,"signature":2,"z":{"signature":1}}',
      signedText: '{"a":3,"z":{"signature":1}}',
    });
    expect(canonicalizeSigned({ signature: 1 })).toEqual({
      text: '{"signature":1}',
      signedText: "{}",
    });
  });

  test("the texts of a signed object nest as deep as other texts, and no deeper", () => {
    expect(canonicalizeSigned({ a: nested(63) }).text).toBe(canonicalize({ a: nested(63) }));
    expect(() => canonicalizeSigned({ a: nested(64) })).toThrow(CanonicalJsonError);
  });

  test.each<[string, object]>([
    ["an array", []],
    ["an instance of a class", new (class A {})()],
    ["a lone surrogate in a member name", { "\ud800": 1 }],
    ["a signature that is not JSON", { signature: 1n }],
  ])("the texts of a signed object are refused for %s", (_, value) => {
    expect(() => canonicalizeSigned(value)).toThrow(CanonicalJsonError);
  });
});

const cycle: unknown[] = [];
cycle.push({ cycle }, { cycle });

describe("canonicalize refuses", () => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["undefined in an array", [undefined]],
    ["a hole in an array", Array(2)],
    ["NaN", { a: Number.NaN }],
    ["infinity", JSON.parse("[1e999]")],
    ["minus infinity", -Infinity],
    ["a bigint", [1n]],
    ["a function", { toJSON: () => 1 }],
    ["a symbol", Symbol("a")],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a boxed text", Object("a")],
    ["bytes", Uint8Array.of(1)],
    ["an instance of a class", new (class A {})()],
    ["a lone high surrogate", "\ud800"],
    ["a lone low surrogate in a long text", `${"a".repeat(100)}\udc00`],
    ["surrogates in the wrong order", "\udc00\ud800"],
    ["a lone surrogate in a member name", { "\ud800": 1 }],
    ["nesting of 65", nested(65)],
    ["nesting of 65 in objects", JSON.parse('{"a":'.repeat(65) + "1" + "}".repeat(65))],
    ["nesting of 100,000", nested(100_000)],
    ["a cycle", cycle],
  ])("canonicalize refuses %s", (_, value) => {
    expect(() => canonicalize(value)).toThrow(CanonicalJsonError);
  });
});

function nested(depth: number): unknown {
  let value: unknown[] = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}
