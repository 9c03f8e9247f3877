import { expect, test } from "vitest";
import { describeByPath } from "./describe-by-path.ts";

const text = { type: "string" };

test("describes members by their path, through arrays and alternatives", () => {
  const schema = {
    properties: {
      id: text,
      steps: { items: { properties: { id: text } } },
      event: { oneOf: [{ properties: { id: text } }, { type: "null" }] },
    },
    required: ["id"],
  };
  const described = describeByPath(schema, { id: "A.", "steps.id": "B.", "event.id": "C." });
  expect(described).toEqual({
    properties: {
      id: { ...text, description: "A." },
      steps: { items: { properties: { id: { ...text, description: "B." } } } },
      event: {
        oneOf: [{ properties: { id: { ...text, description: "C." } } }, { type: "null" }],
      },
    },
    required: ["id"],
  });
});

test("describes a member with the name of a keyword", () => {
  const schema = { properties: { description: text, properties: text } };
  expect(describeByPath(schema, { properties: "P." })).toEqual({
    properties: { description: text, properties: { ...text, description: "P." } },
  });
});

test("replaces a description by the one of the path, and keeps others", () => {
  const schema = { properties: { a: { description: "Old." }, b: { description: "Kept." } } };
  expect(describeByPath(schema, { a: "New." })).toEqual({
    properties: { a: { description: "New." }, b: { description: "Kept." } },
  });
});
