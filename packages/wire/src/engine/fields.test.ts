import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  agentId,
  amount,
  capabilities,
  capability,
  count,
  currency,
  endpointUrl,
  finite,
  id,
  longText,
  looseObject,
  objectOnly,
  pageQuery,
  price,
  priceText,
  publicKey,
  ratio,
  shortText,
  timestamp,
  waitSeconds,
} from "./fields.ts";

/** Parses a JSON text; `1e999` becomes Infinity, `-0` stays -0. */
const json = (text: string) => JSON.parse(text) as unknown;
const limit = pageQuery.limit;

interface Case {
  readonly schema: v.GenericSchema;
  readonly takes: readonly unknown[];
  /** Each value with the message of the rule that it breaks. */
  readonly refuses: readonly (readonly [value: unknown, rule: RegExp])[];
}

const uuid = "019b7d21-53eb-7ccd-926c-3badff397897";
const badAmounts: Case["refuses"] = [
  [-1, /above 0|0 or more/],
  [-0.000001, /above 0|0 or more/],
  [0.0000001, /at most 6 decimals/],
  [5e-324, /at most 6 decimals/],
  [0.1 + 0.2, /at most 6 decimals/],
  [1_000_000_000.000001, /at most 1000000000/],
  [1e21, /at most 1000000000/],
  [1e308, /at most 1000000000/],
  [json("1e309"), /finite number/],
  [Number.NaN, /number/i],
  ["5", /number/i],
  [null, /number/i],
  [[5], /number/i],
];

const cases: Readonly<Record<string, Case>> = {
  "an amount": {
    schema: amount,
    takes: [0.000001, 0.1, 1, 1.005, 1e9, 999_999_999.999999],
    refuses: [...badAmounts, [0, /above 0/], [json("-0"), /above 0/], [-1, /above 0/]],
  },
  "a price": {
    schema: price,
    takes: [0, json("-0"), 0.000001, 2, 1e9],
    refuses: [...badAmounts, [-1, /0 or more/]],
  },
  "an amount in a query": {
    schema: priceText,
    takes: ["0", "1", "12.5", "0.000001", "1000000000"],
    refuses: [
      ["1000000001", /at most 1000000000/],
      ["0.0000001", /6 decimals/],
      ["-1", /amount/],
      ["1e3", /amount/],
      ["Infinity", /amount/],
      ["", /amount/],
      ["0x10", /amount/],
      [" 1", /amount/],
    ],
  },
  "a currency": {
    schema: currency,
    takes: ["USD"],
    refuses: [
      ["usd", /USD/],
      ["EUR", /USD/],
      [null, /USD/],
    ],
  },
  "an agent id": {
    schema: agentId,
    takes: [uuid, "f47ac10b-58cc-4372-a567-0e02b2c3d479", "00000000-0000-8000-8000-000000000000"],
    refuses: [
      [uuid.toUpperCase(), /UUID/],
      [`${uuid} `, /UUID/],
      [`${uuid}\n`, /UUID/],
      [uuid.replaceAll("-", ""), /UUID/],
      ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", /UUID/],
      ["__proto__", /UUID/],
      ["../../etc/passwd", /UUID/],
      ["", /UUID/],
      [1, /string/i],
    ],
  },
  "a public key": {
    schema: publicKey,
    takes: ["0".repeat(64), "ab".repeat(32)],
    refuses: [
      ["ab".repeat(31), /64/],
      ["ab".repeat(33), /64/],
      ["AB".repeat(32), /lower-case/],
      [`0x${"ab".repeat(31)}`, /hex/],
      ["zz".repeat(32), /hex/],
      [`${"ab".repeat(32)}\n`, /64/],
    ],
  },
  "an endpoint URL": {
    schema: endpointUrl,
    takes: [
      "http://127.0.0.1:1",
      "https://a.example/mcp?x=1",
      "HTTPS://a.example",
      `https://a.example/${"x".repeat(2_030)}`,
    ],
    refuses: [
      ["", /http or https/],
      ["a.example", /http or https/],
      ["ftp://a.example", /http or https/],
      ["https://user:word@a.example", /without credentials/],
      ["https://a.example/x y", /http or https/],
      [`https://a.example/${"x".repeat(2_031)}`, /at most 2048/],
    ],
  },
  "an id that the caller chose": {
    schema: id,
    takes: ["x", "__proto__", "a\u0000b", "x".repeat(256)],
    refuses: [
      ["", /not be empty/],
      ["x".repeat(257), /256/],
      ["\ud800", /well-formed/],
      [0, /string/i],
    ],
  },
  "a short text": {
    schema: shortText,
    takes: ["", "x".repeat(256), "'; DROP TABLE accounts; --"],
    refuses: [
      ["x".repeat(257), /256/],
      ["\udc00\ud800", /well-formed/],
    ],
  },
  "a long text": {
    schema: longText,
    takes: ["", "x".repeat(4_096)],
    refuses: [
      ["x".repeat(4_097), /4096/],
      ["\ud800", /well-formed/],
    ],
  },
  "a capability": {
    schema: capability,
    takes: ["summarise", "constructor", "日本語"],
    refuses: [
      ["", /not be empty/],
      ["x".repeat(257), /256/],
      ["\ud800", /well-formed/],
    ],
  },
  "a list of capabilities": {
    schema: capabilities,
    takes: [[], ["a", "b"], Array.from({ length: 100 }, (_, i) => `c${i}`)],
    refuses: [
      [Array.from({ length: 101 }, (_, i) => `c${i}`), /100/],
      ["summarise", /array/i],
      [{ length: 1 }, /array/i],
    ],
  },
  "a timestamp": {
    schema: timestamp,
    takes: [0, 1_760_000_000_000],
    refuses: [
      [-1, /0 or more/],
      [0.5, /whole/],
      [2 ** 53, /whole/],
      [json("1e309"), /whole/],
      ["1760000000000", /number/i],
    ],
  },
  "a finite number": {
    schema: finite,
    takes: [0, -1.5, 1e308],
    refuses: [
      [json("1e309"), /finite/],
      [json("-1e309"), /finite/],
      [Number.NaN, /number/i],
    ],
  },
  "a ratio": {
    schema: ratio,
    takes: [0, 0.5, 1],
    refuses: [
      [-0.01, /from 0 to 1/],
      [1.01, /from 0 to 1/],
      [json("1e309"), /finite|from 0/],
    ],
  },
  "a count": {
    schema: count,
    takes: [0, 3],
    refuses: [
      [-1, /0 or more/],
      [1.5, /whole/],
    ],
  },
  "a page's limit": {
    schema: limit,
    takes: [undefined, "1", "050", "200"],
    refuses: [
      ["0", /from 1 to 200/],
      ["201", /from 1 to 200/],
      ["-1", /from 1 to 200/],
      ["1e2", /from 1 to 200/],
      ["1000000000", /from 1 to 200/],
      ["abc", /from 1 to 200/],
      ["", /from 1 to 200/],
    ],
  },
  "the seconds of a long poll": {
    schema: waitSeconds,
    takes: [undefined, "0", "60"],
    refuses: [
      ["61", /from 0 to 60/],
      ["1.5", /from 0 to 60/],
    ],
  },
  "an object whose members are all optional": {
    schema: objectOnly(v.object({ a: v.optional(v.number()) })),
    takes: [{}, { a: 1 }, { b: 1 }],
    refuses: [
      [[], /object/],
      [[1], /object/],
      [null, /object/],
      ["{}", /object/],
      [{ a: "1" }, /number/i],
    ],
  },
  "an object that is passed on unchanged": {
    schema: looseObject,
    takes: [{}, { toString: 1 }, json('{"__proto__": {"polluted": true}}')],
    refuses: [
      [[], /object/],
      [null, /object/],
      ["{}", /object/],
    ],
  },
};

describe.each(Object.entries(cases))("%s", (_, { schema, takes, refuses }) => {
  test.each(takes.map((value) => [value]))("a field accepts the value %j", (value) => {
    expect(v.is(schema, value)).toBe(true);
  });

  test.each(refuses)("a field refuses the value %j with a message matching %s", (value, rule) => {
    const result = v.safeParse(schema, value);
    expect(result.success).toBe(false);
    expect(result.issues?.map(({ message }) => message).join("; ")).toMatch(rule);
  });
});

test("looseObject returns the same object that it was given", () => {
  const object = json('{"__proto__": {"a": 1}, "b": 2}');
  expect(v.parse(looseObject, object)).toBe(object);
});

test("numbers in a query are parsed to numbers", () => {
  expect(v.parse(limit, "050")).toBe(50);
  expect(v.parse(priceText, "12.5")).toBe(12.5);
});
