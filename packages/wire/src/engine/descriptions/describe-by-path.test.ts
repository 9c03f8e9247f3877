import { expect, test } from "vitest";
import { describeByPath } from "./describe-by-path.ts";

const text = { type: "string" };

test("members are described by their path, through arrays and alternatives", () => {
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

test("a member with the name of a keyword is described", () => {
  const schema = { properties: { description: text, properties: text } };
  expect(describeByPath(schema, { properties: "P." })).toEqual({
    properties: { description: text, properties: { ...text, description: "P." } },
  });
});

test("a description is replaced by the one of the path, and others are kept", () => {
  const schema = { properties: { a: { description: "Old." }, b: { description: "Kept." } } };
  expect(describeByPath(schema, { a: "New." })).toEqual({
    properties: { a: { description: "New." }, b: { description: "Kept." } },
  });
});
