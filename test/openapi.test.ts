import { randomBytes } from "node:crypto";
import { SUITE } from "@agent/crypto";
import { createLog, openRelay, readConfig } from "@agent/relay";
import { parseVerifierKey } from "@agent/transparency";
import { detectKind } from "@agent/verify";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";

/** Sends requests of the operator to a new relay, one after another, and returns the text of each answer. */
async function askRelay(...requests: readonly (readonly [path: string, body?: object])[]) {
  const read = readConfig({
    AGENT_API_TOKEN: "operator",
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  });
  if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join());
  const runtime = { now: Date.now, randomBytes, schedule: () => () => {} };
  const silent = { stdout: () => {}, stderr: () => {} };
  const log = createLog({ level: "error", write: silent, now: Date.now });
  const relay = await openRelay(read.config, runtime, log);
  if (!relay.ok) throw new Error(relay.detail);
  const answers: string[] = [];
  for (const [path, body] of requests) {
    const headers = { authorization: "Bearer operator", "content-type": "application/json" };
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    const request = new Request(`http://relay.example${path}`, { headers, ...sent });
    answers.push(await (await relay.fetch(request)).text());
  }
  await relay.close();
  return answers;
}

/** Fetches /openapi.json from a relay and formats it with indentation. */
async function fetchContract(): Promise<string> {
  const [answer = ""] = await askRelay(["/openapi.json"]);
  return `${JSON.stringify(JSON.parse(answer), null, 2)}\n`;
}

it("a relay serves docs/openapi.json", async () => {
  await expect(await fetchContract()).toMatchFileSnapshot("../docs/openapi.json");
});

/** Lists the linter's errors; its warnings are a matter of taste. */
async function listErrors(source: string): Promise<string[]> {
  const examples = { severity: "error", allowAdditionalProperties: true } as const;
  const rules = { "no-invalid-media-type-examples": examples };
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source, config });
  return problems.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

it("a relay serves valid OpenAPI 3.1", async () => {
  const source = await fetchContract();
  expect(source).toContain('"openapi": "3.1');
  expect(await listErrors(source)).toEqual([]);
});

it("an example that its schema refuses is a fault of the document", async () => {
  const document = JSON.parse(await fetchContract()) as {
    paths: Record<string, { get: { responses: Record<string, { content: object }> } }>;
  };
  const live = document.paths["/health/live"]?.get.responses["200"];
  if (live === undefined) throw new Error("the operation is not there");
  live.content = { "application/json": { schema: { type: "string" }, example: 1 } };
  expect(await listErrors(JSON.stringify(document))).toEqual([expect.stringContaining("xample")]);
});

it("a document that is not valid OpenAPI has faults", async () => {
  const source = JSON.stringify({ openapi: "3.1.0", info: { title: "no version" }, paths: {} });
  expect(await listErrors(source)).not.toEqual([]);
});

/** An example of a body, with its operation and media type. */
interface Example {
  readonly operation: string;
  readonly media: string;
  readonly value: unknown;
}
type Content = Readonly<Record<string, { readonly example?: unknown }>>;
interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** Lists the examples of all requests and answers. */
async function listExamples(): Promise<Example[]> {
  const { paths } = JSON.parse(await fetchContract()) as {
    paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return operations.flatMap(({ operationId: operation, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.entries(body?.content ?? {}).map(([media, { example: value }]) => ({
        operation,
        media,
        value,
      })),
    ),
  );
}

/** Lists the values of a member anywhere in a value. */
function listMembers(name: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const within = Object.values(value).flatMap((member) => listMembers(name, member));
  return Object.hasOwn(value, name)
    ? [(value as Record<string, unknown>)[name], ...within]
    : within;
}

describe("the examples of the contract", async () => {
  const examples = await listExamples();
  const membersOf = (name: string, operation?: string) =>
    examples
      .filter((example) => operation === undefined || example.operation === operation)
      .flatMap(({ value }) => listMembers(name, value));
  const textOf = (operation: string, type: string) =>
    String(
      examples.find((example) => example.operation === operation && example.media.includes(type))
        ?.value,
    );

  it("every signed artifact in an example has the suite that its verifiers accept", () => {
    expect([...new Set(membersOf("suite"))]).toEqual([SUITE]);
  });

  it("the examples of signed artifacts have the members by which a verifier recognizes them", () => {
    const evidence = examples.find(({ operation }) => operation === "getEvidence")?.value;
    expect(detectKind(evidence)).toBe("bundle");
    expect(membersOf("succession", "relayInfo").map(detectKind)).toEqual(["relay_succession"]);
    expect(membersOf("succession", "relayIdentity").map(detectKind)).toEqual(["relay_succession"]);
    expect(membersOf("chain", "getSuccession").map(detectKind)).toEqual(["succession"]);
    expect(new Set(membersOf("delegation_token").map(detectKind))).toEqual(
      new Set(["delegation_token"]),
    );
  });

  it("the keys of logs and witnesses in examples can be parsed", () => {
    const keys = [...membersOf("vkey"), ...membersOf("witness_vkey")].map(String);
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => !parseVerifierKey(key).ok)).toEqual([]);
  });

  it("the examples of texts have the form of a relay's answers", async () => {
    const account = "/api/v1/agents/01890000-0000-7000-8000-000000000001";
    const [, statement = ""] = await askRelay(
      [`${account}/deposit`, { amount: 10, reference: "invoice 17" }],
      [`${account}/statement?format=csv`],
    );
    const [header] = statement.split("\r\n");
    expect(textOf("getStatement", "csv").split("\r\n")[0]).toBe(header);
    for (const operation of ["getTaskEvents", "listRelayEvents"]) {
      const names = textOf(operation, "event-stream").matchAll(/^(\w+): /gm);
      expect([...names].map(([, name]) => name)).toEqual(["id", "event", "data"]);
    }
  });
});
