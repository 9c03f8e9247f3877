import { describe, expect, test } from "vitest";
import { buildBody, buildChain, buildSignedReceipt, taskId } from "../test/fixtures.ts";
import { parseReceipt } from "./index.ts";

const good = { ...buildSignedReceipt(), delegated_scope: "read_file,count_terms" };
const hash = good.prompt_hash;

describe("the members of a receipt", () => {
  const rules: [member: string, right: unknown[], wrong: unknown[]][] = [
    ["task_id", ["x", taskId], [undefined, null, "", 1, ["x"], {}]],
    [
      "agent_id",
      [
        "019b7d21-53eb-7ccd-926c-3badff397897",
        "5d1e3f0a-8a53-4f6c-9d1b-2f6f3f0c1a2b",
        "5d1e3f0a-8a53-8f6c-9d1b-2f6f3f0c1a2b",
      ],
      [undefined, null, "", "agent", "019B7D21-53EB-7CCD-926C-3BADFF397897", `${good.agent_id}!`],
    ],
    [
      "public_key",
      [undefined, hash],
      [null, "", hash.toUpperCase(), hash.slice(2), `${hash}00`, 7],
    ],
    ["device_id", ["x"], [undefined, null, "", 1]],
    [
      "submitted_at",
      [0, -1, 1.7e12, 2 ** 53 - 1],
      [undefined, null, "1", 1.5, NaN, 2 ** 53, Infinity],
    ],
    [
      "completed_at",
      [0, -1, 1.7e12, 2 ** 53 - 1],
      [undefined, null, "1", 1.5, NaN, 2 ** 53, Infinity],
    ],
    ["status", ["completed", "failed", "denied"], [undefined, null, "", "done", "Completed", 1]],
    ["result", ["", "x", "ä😀"], [undefined, null, 1, {}]],
    ["tools_used", [[], ["a", "a"]], [undefined, null, "a", {}, { length: 0 }]],
    ["memories_formed", [0, 3], [undefined, null, -1, 0.5, "0", Infinity]],
    ["prompt_hash", [hash], [undefined, null, "", hash.toUpperCase(), hash.slice(1), `${hash}0`]],
    ["result_hash", [hash], [undefined, null, "", hash.toUpperCase(), hash.slice(1), `${hash}0`]],
    ["delegation_receipts", [undefined, [], [{}]], [null, {}, "[]"]],
    ["relay_task_id", [undefined, "x"], [null, "", 1]],
    ["delegated_scope", [undefined, "", "a,b"], [null, 1, ["a"]]],
    ["signature", ["x"], [undefined, null, "", 1, ["x"]]],
  ];

  const cases = rules.flatMap(([member, right, wrong]) => [
    ...right.map((value) => ({ member, value, fault: null })),
    ...wrong.map((value) => ({ member, value, fault: member })),
  ]);

  test.each(cases)(
    "a receipt whose $member is $value has a fault in: $fault",
    ({ member, value, fault }) => {
      const parsed = parseReceipt({ ...good, [member]: value });
      expect(parsed).toMatchObject(
        fault === null ? { ok: true } : { ok: false, code: "receipt.malformed", path: fault },
      );
    },
  );

  test("a refusal names the position of a fault inside a list", () => {
    expect(parseReceipt({ ...good, tools_used: ["a", 2] })).toMatchObject({ path: "tools_used.1" });
    expect(parseReceipt({ ...good, delegation_receipts: [{}, []] })).toMatchObject({
      path: "delegation_receipts.1",
    });
  });

  test("the parser leaves the suite and the inside of nested receipts to the verifier", () => {
    for (const suite of [undefined, null, "other", 1]) {
      expect(parseReceipt({ ...good, suite }).ok).toBe(true);
    }
    expect(parseReceipt({ ...good, delegation_receipts: [{ task_id: 1 }] }).ok).toBe(true);
  });
});

describe("a receipt is plain JSON data with a canonical form", () => {
  const nestedArrays = (depth: number): unknown => (depth === 0 ? 1 : [nestedArrays(depth - 1)]);
  const cyclic: Record<string, unknown> = { ...good };
  cyclic["self"] = cyclic;
  const ownReceipt: Record<string, unknown> = { ...good };
  ownReceipt["delegation_receipts"] = [ownReceipt];

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 1],
    ["a list", [good]],
    ["a list with a receipt's members", Object.assign([], good)],
    ["an instance of a class", Object.assign(new Error("x"), good)],
    ["a lone surrogate in an unknown member", { ...good, note: "\ud800" }],
    ["a number that is not finite", { ...good, note: Infinity }],
    ["a function", { ...good, note: () => 1 }],
    ["64 levels under the receipt", { ...good, note: nestedArrays(64) }],
    ["a cycle", cyclic],
  ])("a receipt is refused as plain JSON data: %s", (_, value) => {
    expect(parseReceipt(value)).toMatchObject({ ok: false, code: "receipt.malformed" });
  });

  test("a receipt that contains itself is refused", () => {
    expect(parseReceipt(ownReceipt)).toMatchObject({ ok: false, code: "receipt.too_many_nested" });
  });

  test("63 levels below a receipt are accepted", () => {
    expect(parseReceipt({ ...good, note: nestedArrays(63) }).ok).toBe(true);
  });

  test("the parser returns the given receipt with its unknown members", () => {
    const given: unknown = JSON.parse(
      JSON.stringify({ ...good, note: 1 }).replace("{", '{"__proto__":{"a":1},"toJSON":2,'),
    );
    const parsed = parseReceipt(given);
    expect(parsed.ok && parsed.receipt).toBe(given);
  });
});

describe("the JSON text of a receipt", () => {
  test("a receipt's JSON text is parsed like the value", () => {
    expect(parseReceipt(JSON.stringify(good))).toEqual(parseReceipt(good));
  });

  test.each([
    ["no JSON", "{"],
    ["empty", ""],
    ["a JSON string", JSON.stringify(JSON.stringify(good))],
    ["a member twice", JSON.stringify(good).replace("{", '{"status":"failed",')],
    [
      "a member of an inner object twice",
      JSON.stringify({ ...good, x: {} }).replace('"x":{', '"x":{"a":1,"a":1'),
    ],
    ["100,000 levels deep", "[".repeat(100_000) + "]".repeat(100_000)],
  ])("a receipt's JSON text is refused when it is %s", (_, text) => {
    expect(parseReceipt(text)).toMatchObject({ ok: false, code: "receipt.malformed" });
  });
});

test("the refusal of a receipt's JSON text names a number that has more than one spelling", () => {
  const text = JSON.stringify({ ...good, note: { order_id: 2 ** 53 } });
  expect(parseReceipt(text)).toMatchObject({ ok: true });
  expect(parseReceipt(text.replace("9007199254740992", "9007199254740993"))).toMatchObject({
    ok: false,
    code: "receipt.malformed",
    path: "order_id",
  });
});

describe("trees of receipts", () => {
  const wide = (count: number) =>
    buildBody({ delegation_receipts: Array.from({ length: count }, () => buildSignedReceipt()) });

  test("a tree of receipts may contain 256 nested receipts in all", () => {
    expect(parseReceipt({ ...good, ...wide(256) }).ok).toBe(true);
    const halves = [
      { ...good, ...wide(127) },
      { ...good, ...wide(127) },
    ];
    expect(parseReceipt({ ...good, delegation_receipts: halves }).ok).toBe(true);
  });

  test("a tree of receipts must not contain 257 nested receipts", () => {
    expect(parseReceipt({ ...good, ...wide(257) })).toEqual({
      ok: false,
      code: "receipt.too_many_nested",
      path: "delegation_receipts",
      message: "must hold at most 256 nested receipts in all",
    });
    const halves = [
      { ...good, ...wide(128) },
      { ...good, ...wide(127) },
    ];
    expect(parseReceipt({ ...good, delegation_receipts: halves })).toMatchObject({
      code: "receipt.too_many_nested",
    });
  });

  test("a tree of receipts may contain anything inside a nested one, which is refused separately", () => {
    const odd = { ...good, delegation_receipts: [null, 7, "text", [], { delegation_receipts: 1 }] };
    const tree = { ...good, delegation_receipts: [odd] };
    expect(parseReceipt(tree).ok).toBe(true);
  });

  test("a tree of receipts may be deeper than the hops that are verified", () => {
    expect(parseReceipt(buildChain(12)).ok).toBe(true);
  });

  test("a tree of receipts is refused without recursion when it is very deep or very wide", () => {
    const deep = '{"delegation_receipts":['.repeat(50_000) + "]}".repeat(50_000);
    expect(parseReceipt({ ...good, delegation_receipts: [JSON.parse(deep)] })).toMatchObject({
      code: "receipt.too_many_nested",
    });
    const many = Array.from({ length: 200_000 }, () => ({}));
    for (const nested of [many, [{ delegation_receipts: many }]]) {
      expect(parseReceipt({ ...good, delegation_receipts: nested })).toMatchObject({
        code: "receipt.too_many_nested",
      });
    }
  });
});

test("a refusal of a receipt never repeats the input", () => {
  const secret = "s3cret-s3cret";
  const members = Object.keys(good).filter((member) => member !== "suite");
  const faults = members.map((member) => parseReceipt({ ...good, [member]: { [secret]: secret } }));
  expect(faults.map(({ ok }) => ok)).not.toContain(true);
  expect(JSON.stringify(faults)).not.toContain(secret);
  expect(JSON.stringify(parseReceipt(`{"${secret}":`))).not.toContain(secret);
});
