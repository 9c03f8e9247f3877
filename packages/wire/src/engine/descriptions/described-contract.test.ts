import { describe, expect, test } from "vitest";
import { operations } from "../../operations.ts";
import { buildOpenApi } from "../openapi.ts";
import { signedDocuments } from "./signed-documents.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const document = buildOpenApi(operations, "1.2.3") as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const described = Object.values(document.paths).flatMap((path) => Object.values(path));

/** Lists the members of a schema that have no description, by their paths. */
function listUndescribed(schema: unknown, place: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, ...keywords } = schema as Schema;
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      ...(member.description === undefined ? [`${place}.${name}`] : []),
      ...listUndescribed(member, `${place}.${name}`),
    ]),
    ...Object.values(keywords).flatMap((keyword) => listUndescribed(keyword, place)),
  ];
}

/** Lists the members of a body, in any of its formats, that have no description. */
const listUndescribedIn = ({ content = {} }: Content, place: string): string[] =>
  Object.values(content).flatMap(({ schema }) => listUndescribed(schema, place));

describe("the contract describes", () => {
  test("the contract describes each parameter of each operation", () => {
    const missing = described.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ description }) => description === undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("the contract describes each member of each request", () => {
    const missing = described.flatMap(({ operationId, requestBody = {} }) =>
      listUndescribedIn(requestBody, operationId),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  test("the contract describes each member of each answer", () => {
    const missing = described.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, answer]) =>
        listUndescribedIn(answer, `${operationId} ${status}`),
      ),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  test("the contract describes each member of each named schema", () => {
    const missing = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      listUndescribed(schema, name),
    );
    expect(missing).toEqual([]);
  });

  test("the contract describes only members of signed documents that exist", () => {
    const unused = Object.entries(signedDocuments).flatMap(([name, members]) => {
      const text = JSON.stringify(document.components.schemas[name]);
      return Object.values(members).filter((each) => !text.includes(JSON.stringify(each)));
    });
    expect(unused).toEqual([]);
  });
});
