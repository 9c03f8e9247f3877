import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { annotateSchema } from "./annotate-schema.ts";

const piped = v.pipe(v.string(), v.minLength(2));

describe("annotateSchema", () => {
  test.each<[string, v.GenericSchema, object]>([
    ["plain", v.number(), { type: "number" }],
    ["piped", piped, { type: "string", minLength: 2 }],
    ["optional", v.optional(piped), { type: "string", minLength: 2 }],
  ])("annotateSchema adds keywords to the JSON Schema of a %s schema", (_, schema, converted) => {
    const annotated = annotateSchema(schema, { description: "A word." });
    expect(toJsonSchema(annotated)).toMatchObject({ ...converted, description: "A word." });
    expect(toJsonSchema(schema)).not.toHaveProperty("description");
  });

  test("later keywords replace earlier ones", () => {
    const twice = annotateSchema(annotateSchema(piped, { description: "A" }), { description: "B" });
    expect(toJsonSchema(twice)).toMatchObject({ description: "B" });
  });

  test("an annotated schema validates as the schema does, also as a part of others", () => {
    const annotated = annotateSchema(piped, { description: "A word." });
    expect([v.is(annotated, "ab"), v.is(annotated, "a")]).toEqual([true, false]);
    const longer = v.object({ word: v.optional(v.pipe(annotated, v.maxLength(3))) });
    const words = [{}, { word: "abc" }, { word: "a" }, { word: "abcd" }];
    expect(words.map((word) => v.is(longer, word))).toEqual([true, true, false, false]);
  });
});
