import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import type { Refusal } from "./refusal.ts";
import {
  defineOperation,
  type Answer,
  type ParsedRequest,
  type PathParams,
  type OperationRequest,
  type Result,
} from "./operation.ts";

const search = defineOperation({
  method: "POST",
  path: "/agents/:agentId/things/:thingId",
  summary: "",
  section: "",
  auth: "bearer",
  tier: "read",
  query: v.object({ limit: v.optional(v.pipe(v.string(), v.transform(Number))) }),
  body: v.object({ currency: v.optional(v.string(), "USD") }),
  ok: { 200: v.object({ found: v.number() }), 201: v.object({ made: v.string() }) },
  refusals: ["agent.not_found"],
});
type Search = typeof search;

const bare = defineOperation({
  method: "GET",
  path: "/bare",
  summary: "",
  section: "",
  auth: "public",
  tier: null,
  ok: { 200: v.object({}) },
  refusals: [],
});

describe("the types of an operation row", () => {
  test("PathParams names the parameters of a path", () => {
    expectTypeOf<PathParams<"/a/:b/c/:d">>().toEqualTypeOf<
      { readonly b: string } & { readonly d: string }
    >();
    expectTypeOf<PathParams<"/a/:b">>().toEqualTypeOf<{ readonly b: string }>();
    expectTypeOf<PathParams<"/a">>().toEqualTypeOf<unknown>();
  });

  test("ParsedRequest has the output types of the schemas", () => {
    expectTypeOf<ParsedRequest<Search>["params"]["thingId"]>().toEqualTypeOf<string>();
    expectTypeOf<ParsedRequest<Search>["query"]>().toEqualTypeOf<{ limit?: number | undefined }>();
    expectTypeOf<ParsedRequest<Search>["body"]>().toEqualTypeOf<{ currency: string }>();
    expectTypeOf<ParsedRequest<typeof bare>["body"]>().toEqualTypeOf<undefined>();
  });

  test("OperationRequest has the input types of the schemas", () => {
    expectTypeOf<OperationRequest<Search>["query"]>().toEqualTypeOf<
      { limit?: string | undefined } | undefined
    >();
    expectTypeOf<OperationRequest<Search>["body"]>().toEqualTypeOf<
      { currency?: string | undefined } | undefined
    >();
    expectTypeOf<Result<Search>>().toEqualTypeOf<{ found: number } | { made: string }>();
  });

  test("Answer allows a declared status with its own body or a declared refusal", () => {
    type Allowed = Answer<Search>;
    expectTypeOf<{ status: 201; body: { made: string } }>().toExtend<Allowed>();
    expectTypeOf<Refusal<"agent.not_found">>().toExtend<Allowed>();
    expectTypeOf<{ status: 201; body: { found: number } }>().not.toExtend<Allowed>();
    expectTypeOf<{ status: 202; body: { found: number } }>().not.toExtend<Allowed>();
    expectTypeOf<Refusal<"task.not_found">>().not.toExtend<Allowed>();
  });
});
