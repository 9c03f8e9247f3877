import { describe, expect, test } from "vitest";
import { errors } from "../errors.ts";
import { listImpliedRefusals } from "./list-implied-refusals.ts";
import { buildOpenApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { operations } from "../operations.ts";
import { toComponentSchema } from "../named-schemas.ts";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: object;
}

interface Described {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly "x-operator-only"?: true;
  readonly "x-owner-only"?: true;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
}

/** The examples of a body, by media type. */
type Content = Readonly<Record<string, { readonly example?: unknown }>>;

const document = buildOpenApi(operations, "1.2.3") as {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

function describedAs({ path, method }: Operation): Described {
  const found = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
}

/** Yields every object in the document. */
function* objectsIn(value: unknown): Iterable<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

describe("the OpenAPI document", () => {
  test("the OpenAPI document has OpenAPI version 3.1 and the version of the relay", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.2.3");
  });

  test("the OpenAPI document describes exactly the operations of the table", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(ids.toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  test("the OpenAPI document consists of JSON values only", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  test("the OpenAPI document resolves each of its references within the document", () => {
    const references = [...objectsIn(document)].flatMap(({ $ref }) =>
      $ref === undefined ? [] : [$ref],
    );
    expect(references).not.toEqual([]);
    const held = Object.keys(document.components.schemas);
    const known = held.map((name) => `#/components/schemas/${name}`);
    for (const reference of references) expect(known).toContain(reference);
  });

  test("a body whose members are all optional is not required", () => {
    expect(describedAs(operations.presentCredentials).requestBody?.required).toBe(false);
    expect(describedAs(operations.putListing).requestBody?.required).toBe(true);
  });

  test("the OpenAPI document describes a body by its input and an answer by its output", () => {
    const listing = describedAs(operations.putListing);
    expect(JSON.stringify(listing.requestBody)).toContain(`"required":["capabilities"]`);
    expect(document.components.schemas["Listing"]).toMatchObject({
      required: expect.arrayContaining(["listing_id", "updated_at", "capabilities"]) as unknown,
    });
  });

  test("the OpenAPI document lists the headers that a handler reads", () => {
    expect(describedAs(operations.getTaskEvents).parameters).toContainEqual({
      name: "Last-Event-ID",
      in: "header",
      description: expect.any(String) as unknown,
      schema: { type: "string" },
    });
  });

  test("the OpenAPI document lists the parameters of a query with their bounds", () => {
    expect(describedAs(operations.listCandidates).parameters).toMatchObject([
      { name: "capability", in: "query", required: true },
      { name: "max_budget", in: "query", required: false, schema: { type: "number" } },
      {
        name: "limit",
        in: "query",
        required: false,
        schema: { type: "integer", minimum: 1, maximum: 200 },
      },
    ]);
  });

  test("ids and amounts of a request have the bounds that the relay checks", () => {
    const members = (body: Operation["body"]) =>
      (toComponentSchema(body as never) as { properties: Record<string, object> }).properties;
    const uuid = {
      type: "string",
      pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    };
    expect(members(operations.bootstrap.body)).toMatchObject({ agent_id: uuid });
    expect(members(operations.submitTask.body)).toMatchObject({
      submitted_by: uuid,
      max_budget: { type: "number", minimum: 0, maximum: 1_000_000_000 },
    });
    expect(members(operations.getSeries.query as never)).toMatchObject({
      from: { type: "integer", minimum: 0 },
      step: { type: "integer", minimum: 60_000, maximum: 172_800_000, multipleOf: 60_000 },
    });
    expect(members(operations.deposit.body)).toMatchObject({
      amount: { type: "number", exclusiveMinimum: 0, maximum: 1_000_000_000 },
    });
  });

  test("a whole number of a query, a body or an answer is called an integer", () => {
    const { after } = Object.fromEntries(
      describedAs(operations.getTask).parameters?.map(({ name, schema }) => [name, schema]) ?? [],
    );
    expect(after).toEqual({ type: "integer", minimum: 0, maximum: 999_999_999 });
    const body = toComponentSchema(operations.submitTask.body);
    expect(body).toMatchObject({ properties: { ttl_ms: { type: "integer", minimum: 60_000 } } });
    expect(document.components.schemas["Task"]).toMatchObject({
      properties: { expires_at: { type: "integer" }, estimated_cost: { type: "number" } },
    });
  });

  test("no time is called a number that may be a fraction", () => {
    const times = [...objectsIn(document)].flatMap(({ properties }) =>
      Object.entries(properties ?? {}).filter(([name]) => name.endsWith("_at")),
    );
    expect(times.length).toBeGreaterThan(50);
    expect(JSON.stringify(times)).not.toContain('"type":"number"');
  });
});

const token = [{ bearer: [] }];
const securityOf = {
  public: [],
  bearer: token,
  master: token,
  peer: [{ relayId: [], relaySignature: [], relayTimestamp: [] }],
};

describe.each<[string, Operation]>(Object.entries(operations))("%s", (_, row) => {
  test("the description of an operation has the statuses of its successes and refusals with their codes", () => {
    const { responses } = describedAs(row);
    const refusals = [...row.refusals, ...listImpliedRefusals(row)];
    const statuses = new Set([
      ...Object.keys(row.ok),
      ...refusals.map((code) => String(errors[code].status)),
    ]);
    expect(Object.keys(responses).toSorted()).toEqual([...statuses].toSorted());
    for (const code of refusals) {
      expect(responses[errors[code].status]?.description).toContain(`\`${code}\``);
    }
  });

  test("the description of an operation requires the security, parameters and body of its row", () => {
    const { security, parameters = [], requestBody } = describedAs(row);
    expect(security).toEqual(securityOf[row.auth]);
    expect(describedAs(row)["x-operator-only"]).toBe(row.auth === "master" || undefined);
    expect(describedAs(row)["x-owner-only"]).toBe(row.ownerOnly);
    const names = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => name)).toEqual(names);
    expect(inPath.every(({ required }) => required)).toBe(true);
    expect(requestBody !== undefined).toBe(row.body !== undefined);
  });
});

test("an example of a request has what it must have and what callers usually send", () => {
  const { requestBody } = describedAs(operations.submitTask);
  const example = requestBody?.content["application/json"]?.example;
  expect(Object.keys(example as object).toSorted()).toEqual([
    "max_budget",
    "prompt",
    "required_capabilities",
  ]);
});

describe("listImpliedRefusals", () => {
  const refusalsOf = (name: keyof typeof operations) => listImpliedRefusals(operations[name]);

  test.each([
    ["live", ["server.failed", "server.unavailable"]],
    ["health", ["server.failed", "server.unavailable", "server.draining", "rate.exceeded"]],
  ] as const)("listImpliedRefusals returns for the public operation %s: %j", (name, codes) => {
    expect(refusalsOf(name)).toEqual(codes);
  });

  test("listImpliedRefusals returns token refusals where a token is required, owner and scope refusals where declared", () => {
    expect(refusalsOf("getAgent")).toEqual(
      expect.arrayContaining(["auth.missing", "auth.device_not_authorized", "agent.revoked"]),
    );
    expect(refusalsOf("getAgent")).not.toContain("auth.not_owner");
    expect(refusalsOf("getAgent")).not.toContain("auth.scope_missing");
    expect(refusalsOf("getBalance")).toEqual(
      expect.arrayContaining(["auth.not_owner", "auth.scope_missing"]),
    );
    expect(refusalsOf("deposit")).toContain("auth.master_only");
    expect(refusalsOf("getBalance")).not.toContain("auth.master_only");
  });

  test("listImpliedRefusals returns body refusals for a body, and request.invalid for a body or a query", () => {
    expect(refusalsOf("deposit")).toEqual(
      expect.arrayContaining(["request.malformed_json", "request.too_large", "request.media_type"]),
    );
    expect(refusalsOf("listTrust")).not.toContain("request.malformed_json");
    expect(refusalsOf("listTrust")).toContain("request.invalid");
    expect(refusalsOf("getAgent")).not.toContain("request.invalid");
  });
});
