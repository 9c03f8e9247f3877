import { VerifiableCredentialSchema } from "@agent/credentials";
import { LedgerSchema } from "@agent/ledger";
import { ExecutionReceiptSchema } from "@agent/receipts";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { extensibleEnum, getEnumWords } from "./extensible-enum.ts";
import { toComponentSchema } from "../named-schemas.ts";
import { operations } from "../operations.ts";
import type { Operation } from "./operation.ts";
import { ServerMessage } from "../realtime.ts";
import { TaskEvent } from "../operations/tasks/task.ts";

/** Signed documents: their enumerations belong to the version that they name, so they are closed. */
const documents: readonly unknown[] = [
  ExecutionReceiptSchema,
  LedgerSchema,
  VerifiableCredentialSchema,
];

/** Yields every schema within a schema, including itself. */
function* schemasIn(value: unknown, path: string, seen = new Set()): Iterable<[string, object]> {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  if (documents.includes(value)) return;
  seen.add(value);
  if ("kind" in value && value.kind === "schema") yield [path, value];
  for (const [name, member] of Object.entries(value)) {
    yield* schemasIn(member, `${path}.${name}`, seen);
  }
}

const answers = [
  ...Object.entries<Operation>(operations).flatMap(([name, { ok }]) =>
    Object.entries(ok).map(([status, schema]) => [`${name} ${status}`, schema] as const),
  ),
  ["the socket", ServerMessage] as const,
  ["a task's events", TaskEvent] as const,
];

describe("H17: enumerations of answers", () => {
  test.each(answers)(
    "H17: every enumeration in the answer %s accepts values of later versions",
    (name, answer) => {
      const closed = [...schemasIn(answer, name)].filter(
        ([, schema]) => "type" in schema && (schema.type === "picklist" || schema.type === "enum"),
      );
      expect(closed.map(([path]) => path)).toEqual([]);
    },
  );

  test("H17: the search finds a closed enumeration inside a schema", () => {
    const answer = v.object({ rows: v.array(v.optional(v.picklist(["a"]))) });
    const types = [...schemasIn(answer, "answer")].map(([, schema]) => Reflect.get(schema, "type"));
    expect(types).toContain("picklist");
  });

  test("H17: an extensible enumeration accepts any string and lists its known values", () => {
    const colour = extensibleEnum(["red", "green"]);
    expect(v.parse(colour, "red")).toBe("red");
    expect(v.parse(colour, "blue")).toBe("blue");
    for (const wrong of [1, null, {}, undefined]) expect(v.is(colour, wrong)).toBe(false);
    expect(getEnumWords(colour)).toEqual(["red", "green"]);
    expect(getEnumWords(v.string())).toBeNull();
  });

  test("H17: OpenAPI marks enumerations of answers `x-extensible`, and not those of requests", () => {
    expect(toComponentSchema(v.object({ colour: extensibleEnum(["red"]) }))).toMatchObject({
      properties: { colour: { type: "string", enum: ["red"], "x-extensible": true } },
    });
    expect(toComponentSchema(v.picklist(["red"]))).toEqual({ type: "string", enum: ["red"] });
  });

  test("H17: an unknown value in a request is refused", () => {
    const { query } = operations.listTasks;
    expect(v.is(query, { status: "completed" })).toBe(true);
    expect(v.is(query, { status: "paused" })).toBe(false);
    expect(v.is(operations.setTrustLevel.body, { trust_level: "partner" })).toBe(false);
    expect(v.is(operations.putPlan.body, { goal_id: "g", title: "", status: "x" })).toBe(false);
  });
});
