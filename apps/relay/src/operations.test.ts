import { buildOpenApi, type Operation } from "@agent/wire";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { operations } from "./operations.ts";

/** The examples of a body, by media type. */
type Content = Readonly<Record<string, { readonly example?: unknown }>>;

interface Described {
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

const { paths } = buildOpenApi(operations, "1.2.3") as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};

describe.each<[string, Operation]>(Object.entries(operations))("the examples of %s", (_, row) => {
  const described = paths[row.path.replaceAll(/:(\w+)/g, "{$1}")]?.[row.method.toLowerCase()];
  const answers = Object.entries(row.ok).map(
    ([status, schema]) => [status, described?.responses[status]?.content, schema] as const,
  );
  const request = [["request", described?.requestBody?.content, row.body] as const];
  const bodies = [...request, ...answers].flatMap(([what, content = {}, schema]) =>
    schema === undefined || schema.type === "undefined" ? [] : [[what, content, schema] as const],
  );

  test.each(bodies)(
    "the examples of an operation match its body and its answer: %s",
    (_what, content, schema) => {
      expect(Object.keys(content)).not.toEqual([]);
      for (const [type, { example }] of Object.entries(content)) {
        const isText = type !== "application/json";
        const checked = v.safeParse(isText ? v.pipe(v.string(), v.nonEmpty()) : schema, example);
        expect([type, checked.issues ?? []]).toEqual([type, []]);
      }
    },
  );
});
