import { operations, SubmitTaskBody, type Operation } from "@agent/wire";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { validate } from "./validate.ts";

const schema = v.object({
  name: v.string(),
  currency: v.optional(v.literal("USD")),
  tags: v.optional(v.array(v.pipe(v.string(), v.minLength(1, "must be non-empty")))),
  extra: v.optional(v.custom<object>((value) => typeof value === "object", "must be an object")),
  level: v.optional(v.picklist(["low", "high"])),
});

describe("a value that breaks rules", () => {
  test.each<[string, unknown, string, string]>([
    ["a missing member", {}, "name", "is required"],
    ["another type", { name: 1 }, "name", "must be string"],
    ["another structure", { name: "n", tags: {} }, "tags", "must be array"],
    ["another literal", { name: "n", currency: "EUR" }, "currency", "must be 'USD'"],
    ["another word", { name: "n", level: "mid" }, "level", "must be one of 'low', 'high'"],
    ["a rule of an element", { name: "n", tags: ["a", ""] }, "tags.1", "must be non-empty"],
    ["a rule of ours", { name: "n", extra: 5 }, "extra", "must be an object"],
    ["no object at all", 5, "", "must be object"],
  ])("the refusal of a value names the path and the rule for %s", (_, value, path, message) => {
    expect(validate(schema, value)).toEqual({
      ok: false,
      code: "request.invalid",
      detail: `${path} ${message}`.trim(),
      issues: [{ path, message }],
    });
  });

  test("the refusal of a value names the rule of each option of a union", () => {
    const either = v.object({
      one: v.union([v.object({ many: v.array(v.string()) }), v.object({ single: v.string() })]),
    });
    expect(validate(either, { one: { single: 1 } })).toMatchObject({
      issues: [
        { path: "one.many", message: "is required" },
        { path: "one.single", message: "must be string" },
      ],
    });
  });

  test("the refusal of a body between two forms lists the faults of the form that it is closer to", () => {
    const { body }: Operation = operations.decideDispute;
    expect(validate(body, { share: "half", reason: "late" })).toMatchObject({
      issues: [{ path: "share", message: "must be number" }],
    });
    const signed = { share: 2, reason: "late", task_id: "x" };
    expect(validate(body, signed)).toMatchObject({
      issues: expect.arrayContaining([{ path: "receipt_hash", message: "is required" }]) as unknown,
    });
  });

  test("the refusal of a body without a known member lists the faults of all forms", () => {
    const forms = v.union([
      v.object({ share: v.number() }),
      v.object({ share: v.number(), key: v.string() }),
    ]);
    expect(validate(forms, { other: 1 })).toMatchObject({
      issues: [{ path: "share" }, { path: "share" }, { path: "key" }],
    });
  });

  test("the refusal of a value lists the first twenty faults, and three of them in its text", () => {
    const tags = Array.from({ length: 30 }, () => "");
    const result = validate(schema, { name: "n", tags });
    expect(result).toMatchObject({
      detail: "tags.0 must be non-empty; tags.1 must be non-empty; tags.2 must be non-empty",
    });
    expect("issues" in result && result.issues).toHaveLength(20);
  });

  test.each<[string, unknown]>([
    ["a wrong type", { prompt: { secret: "hunter2" } }],
    ["a wrong element", { prompt: "p", required_capabilities: ["ok", "hunter2".repeat(100)] }],
    ["a wrong id", { prompt: "p", submitted_by: "hunter2" }],
    ["a member of that name", { hunter2: 1 }],
  ])("the refusal of a value never quotes the input: %s", (_, value) => {
    expect(JSON.stringify(validate(SubmitTaskBody, value))).not.toContain("hunter2");
  });
});

test("a valid value is returned as it was parsed, without members that the schema does not name", () => {
  const { body }: Operation = operations.deposit;
  expect(validate(body, { amount: 1, colour: "red" })).toEqual({
    ok: true,
    value: { amount: 1, currency: "USD" },
  });
});

test("a value without a schema is returned as undefined", () => {
  expect(validate(undefined, { a: 1 })).toEqual({ ok: true, value: undefined });
});
