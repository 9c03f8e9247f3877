import * as v from "valibot";
import { expect, test } from "vitest";
import { formatRule } from "./format-rule.ts";

test.each<[schema: v.GenericSchema, value: unknown, rule: string]>([
  [v.string(), undefined, "is required"],
  [v.string(), 5, "must be string"],
  [v.picklist(["accepted", "rejected"]), "x", 'must be "accepted" or "rejected"'],
  [v.pipe(v.string(), v.maxLength(256)), "x".repeat(257), "must have at most 256 characters"],
  [v.pipe(v.array(v.string()), v.maxLength(1)), ["x", "y"], "must have at most 1 items"],
  [v.pipe(v.string(), v.minLength(1)), "", "must have at least 1 characters"],
  [v.pipe(v.number(), v.minValue(0)), -1, "must be >=0"],
  [v.strictObject({ key: v.string() }), { key: "k", keys: 1 }, "is not allowed"],
  [v.pipe(v.string(), v.minLength(1, "must not be empty")), "", "must not be empty"],
])("the text of a rule says what a value must be (case %#)", (schema, value, rule) => {
  const [issue] = v.safeParse(schema, value).issues ?? [];
  expect(formatRule(issue!)).toBe(rule);
});
