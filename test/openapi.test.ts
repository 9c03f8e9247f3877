import { randomBytes } from "node:crypto";
import { createLog, openRelay, readConfig } from "@agent/relay";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";

/** Fetches /openapi.json from a relay and formats it with indentation. */
async function fetchContract(): Promise<string> {
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
  const response = await relay.fetch(new Request("http://relay.example/openapi.json"));
  await relay.close();
  return `${JSON.stringify(await response.json(), null, 2)}\n`;
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
