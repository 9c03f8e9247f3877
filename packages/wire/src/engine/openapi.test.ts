import { describe, expect, test } from "vitest";
import { errors } from "./errors.ts";
import { listImpliedRefusals } from "./list-implied-refusals.ts";
import { buildOpenApi } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { operations } from "../operations.ts";

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
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const document = buildOpenApi(operations, "1.2.3") as {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

function described({ path, method }: Operation): Described {
  const found = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not described`);
  return found;
}

/** Every object anywhere in the document. */
function* objectsIn(value: unknown): Iterable<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

describe("the OpenAPI document", () => {
  test("is of version 3.1 and carries the relay's version", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.2.3");
  });

  test("describes the operations of the table and no others", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(ids.toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  test("is JSON through and through", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  test("refers to nothing that it does not hold", () => {
    const names = [...objectsIn(document)].flatMap(({ $ref }) =>
      $ref === undefined ? [] : [$ref],
    );
    expect(names).not.toEqual([]);
    const held = Object.keys(document.components.schemas);
    const known = held.map((name) => `#/components/schemas/${name}`);
    for (const name of names) expect(known).toContain(name);
  });

  test("lets a body be left out when all its members may be", () => {
    expect(described(operations.presentCredentials).requestBody?.required).toBe(false);
    expect(described(operations.putListing).requestBody?.required).toBe(true);
  });

  test("shows a body as it is sent and an answer as it is sent back", () => {
    const listing = described(operations.putListing);
    expect(JSON.stringify(listing.requestBody)).toContain(`"required":["capabilities"]`);
    expect(document.components.schemas["Listing"]).toMatchObject({
      required: expect.arrayContaining(["listing_id", "updated_at", "capabilities"]) as unknown,
    });
  });

  test("shows the headers that a handler reads", () => {
    expect(described(operations.getTaskEvents).parameters).toContainEqual({
      name: "Last-Event-ID",
      in: "header",
      description: expect.any(String) as unknown,
      schema: { type: "string" },
    });
  });

  test("shows the parameters of a query with their bounds", () => {
    expect(described(operations.listCandidates).parameters).toMatchObject([
      { name: "capability", in: "query", required: true },
      { name: "max_budget", in: "query", required: false, schema: { type: "number" } },
      { name: "limit", in: "query", required: false, schema: { minimum: 1, maximum: 200 } },
    ]);
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
  test("is described with its statuses, those of its refusals and their codes", () => {
    const { responses } = described(row);
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

  test("asks for a token or a peer's headers, for parameters and a body as its row does", () => {
    const { security, parameters = [], requestBody } = described(row);
    expect(security).toEqual(securityOf[row.auth]);
    expect(described(row)["x-operator-only"]).toBe(row.auth === "master" || undefined);
    expect(described(row)["x-owner-only"]).toBe(row.ownerOnly);
    const names = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => name)).toEqual(names);
    expect(inPath.every(({ required }) => required)).toBe(true);
    expect(requestBody !== undefined).toBe(row.body !== undefined);
  });
});

describe("a row implies", () => {
  const refusalsOf = (name: keyof typeof operations) => listImpliedRefusals(operations[name]);

  test.each([
    ["live", ["server.failed", "server.unavailable"]],
    ["health", ["server.failed", "server.unavailable", "server.draining", "rate.exceeded"]],
  ] as const)("for %s, which is open to everybody: %j", (name, codes) => {
    expect(refusalsOf(name)).toEqual(codes);
  });

  test("the refusals of tokens where one is needed, of owner and scope where it names them", () => {
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

  test("the refusals of bodies where there is one, of values where there is a body or a query", () => {
    expect(refusalsOf("deposit")).toEqual(
      expect.arrayContaining(["request.malformed_json", "request.too_large", "request.media_type"]),
    );
    expect(refusalsOf("listTrust")).not.toContain("request.malformed_json");
    expect(refusalsOf("listTrust")).toContain("request.invalid");
    expect(refusalsOf("getAgent")).not.toContain("request.invalid");
  });
});
