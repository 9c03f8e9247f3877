import * as v from "valibot";
import { errors, type Code } from "../errors.ts";
import { listImpliedRefusals } from "./list-implied-refusals.ts";
import {
  buildNamedSchemas,
  convertSchemas,
  type JsonObject,
  type NamedSchemas,
} from "../named-schemas.ts";
import { pathParameters } from "./descriptions/path-parameters.ts";
import { buildAnswerExample, buildRequestExample } from "./examples/build-example.ts";
import { textSamples } from "./examples/sample-bodies.ts";
import { limits } from "./limits.ts";
import type { Operation } from "./operation.ts";
import { FEDERATION_HEADERS } from "./peer-requests.ts";

/** The schemas of the contract, converted once. */
interface ConvertedSchemas {
  readonly named: NamedSchemas;
  /** Those of requests and answers. */
  readonly of: (schema: v.GenericSchema) => JsonObject;
}

/** Converts the schemas of all operations. */
function convertAll(operations: readonly Operation[]): ConvertedSchemas {
  const schemas = operations.flatMap(({ body, query, ok }) =>
    [body, query, ...Object.values(ok)].filter((schema) => schema !== undefined),
  );
  const converted = convertSchemas(schemas.filter(({ type }) => type !== "undefined"));
  return { named: buildNamedSchemas(), of: (schema) => converted.get(schema) ?? {} };
}

const errorSchema: JsonObject = {
  type: "object",
  required: ["error", "message", "code", "status", "request_id"],
  properties: {
    error: { type: "string", description: "The text of the refusal, for readers." },
    message: { type: "string", description: "The same text as `error`." },
    code: {
      type: "string",
      enum: Object.keys(errors),
      "x-extensible": true,
      description: "The code of the refusal, for programs.",
    },
    status: { type: "integer", description: "The HTTP status of the answer." },
    request_id: { type: "string", description: "The id of the request in the relay's log." },
    retry_after: { type: "integer", description: "Seconds." },
    issues: {
      type: "array",
      description: "The members of the request that break a rule.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: {
          path: { type: "string", description: "The member, its parts joined by dots." },
          message: { type: "string", description: "The rule that it breaks." },
        },
      },
    },
  },
};

function buildRefusalResponses(operation: Operation): JsonObject {
  const byStatus = new Map<number, Code[]>();
  for (const code of new Set([...operation.refusals, ...listImpliedRefusals(operation)])) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus.entries()].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${errors[code].text}`).join("\n\n"),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

const successDescriptions: Readonly<Record<string, string>> = {
  201: "Created",
  204: "No content",
  304: "Not modified",
  409: "Conflict",
};

function buildSuccessResponses(
  name: string,
  operation: Operation,
  schemas: ConvertedSchemas,
): JsonObject {
  return Object.fromEntries(
    Object.entries(operation.ok).map(([status, schema]) => [
      status,
      {
        description: successDescriptions[status] ?? "Success",
        ...(schema.type !== "undefined" && {
          content: buildContent(
            { operation: name, status },
            { ...operation, answer: schema },
            schemas,
          ),
        }),
      },
    ]),
  );
}

function buildContent(
  of: { readonly operation: string; readonly status: string },
  { media = [], answer }: Operation & { readonly answer: v.GenericSchema },
  schemas: ConvertedSchemas,
): JsonObject {
  const text = Object.fromEntries(
    media.map((type) => [type, describeText(`${of.operation} ${type}`, { type: "string" })]),
  );
  if (media.length > 0 && answer.type === "string") return text;
  const schema = schemas.of(answer);
  const example = buildAnswerExample(schema, of, schemas.named);
  return { "application/json": { schema, example }, ...text };
}

function describeText(name: string, schema: JsonObject): JsonObject {
  const example = textSamples[name];
  return example === undefined ? { schema } : { schema, example };
}

function buildRequestBody(
  name: string,
  { body, textBytes }: Operation,
  schemas: ConvertedSchemas,
): JsonObject | undefined {
  if (body === undefined) return undefined;
  const schema = schemas.of(body);
  // An empty body is read as an empty object.
  const required = !v.is(body, {});
  if (textBytes !== undefined) {
    return { required, content: { "text/plain": describeText(`${name} text/plain`, schema) } };
  }
  const example = buildRequestExample(schema, name, schemas.named);
  return { required, content: { "application/json": { schema, example } } };
}

const idempotencyKeyParameter: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A repeated request with the same key and body returns the first response for a day.",
  schema: { type: "string", minLength: 1, maxLength: limits.idempotencyKeyLength },
};

function buildParameters(operation: Operation, schemas: ConvertedSchemas): JsonObject[] {
  const path = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: pathParameters[name],
    schema: { type: "string" },
  }));
  const headers = Object.entries(operation.headers ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  const given = [...path, ...(operation.keyed ? [idempotencyKeyParameter] : []), ...headers];
  if (operation.query === undefined) return given;
  const { properties = {}, required = [] } = schemas.of(operation.query) as {
    properties?: { [name: string]: JsonObject };
    required?: string[];
  };
  const query = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description,
    schema,
  }));
  return [...given, ...query];
}

const buildHeaderScheme = (name: string, description: string): JsonObject => ({
  type: "apiKey",
  in: "header",
  name,
  description,
});

const securitySchemes: JsonObject = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "The relay's master token, or a signed agent token (a compact EdDSA JWS).",
  },
  relayId: buildHeaderScheme(FEDERATION_HEADERS.relayId, "The sending relay's id."),
  relaySignature: buildHeaderScheme(
    FEDERATION_HEADERS.signature,
    "Base64url Ed25519 signature of the canonical JSON (RFC 8785) of the body.",
  ),
  relayTimestamp: buildHeaderScheme(
    FEDERATION_HEADERS.timestamp,
    "ISO 8601, at most five minutes from the receiver's clock.",
  ),
};

const bearerSecurity: JsonObject[] = [{ bearer: [] }];
const security: Record<Operation["auth"], JsonObject[]> = {
  public: [],
  bearer: bearerSecurity,
  master: bearerSecurity,
  // All members of one requirement are required together.
  peer: [{ relayId: [], relaySignature: [], relayTimestamp: [] }],
};

function describeOperation(
  name: string,
  operation: Operation,
  schemas: ConvertedSchemas,
): JsonObject {
  const parameters = buildParameters(operation, schemas);
  const requestBody = buildRequestBody(name, operation, schemas);
  return {
    operationId: name,
    summary: operation.summary,
    tags: [operation.section],
    security: security[operation.auth],
    ...(operation.scope !== undefined && { "x-token-scope": operation.scope }),
    ...(operation.auth === "master" && { "x-operator-only": true }),
    ...(operation.ownerOnly && { "x-owner-only": true }),
    ...(operation.singleUse && { "x-single-use-token": true }),
    ...(operation.tier !== null && {
      "x-rate-limit": { tier: operation.tier, per_minute: limits.tiers[operation.tier] },
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...buildSuccessResponses(name, operation, schemas),
      ...buildRefusalResponses(operation),
    },
  };
}

/**
 * Builds the OpenAPI 3.1 document of a table of operations.
 *
 * @param version the relay's version, used as the document's
 */
export function buildOpenApi(
  operations: { readonly [name: string]: Operation },
  version: string,
): JsonObject {
  const schemas = convertAll(Object.values(operations));
  const paths: { [path: string]: JsonObject } = {};
  for (const [name, operation] of Object.entries(operations)) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(name, operation, schemas),
    };
  }
  const sections = new Set(Object.values(operations).map((operation) => operation.section));
  return {
    openapi: "3.1.0",
    info: {
      title: "Agent Delegation Relay",
      version,
      description:
        "Agents are discovered, given tasks and paid when a signed receipt verifies. Amounts are US " +
        "dollars with at most six decimals; timestamps are milliseconds since the Unix epoch.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...sections].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes,
      schemas: { Error: errorSchema, ...schemas.named },
    },
  };
}
