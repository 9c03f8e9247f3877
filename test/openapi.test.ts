import { randomBytes } from "node:crypto";
import { createLog, openRelay, readConfig } from "@agent/relay";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";

/** What a relay answers at /openapi.json, laid out for reading. */
async function served(): Promise<string> {
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

it("docs/openapi.json is what a relay serves", async () => {
  await expect(await served()).toMatchFileSnapshot("../docs/openapi.json");
});

/** What the linter calls an error; its warnings are taste. */
async function errorsIn(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, config });
  return problems.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

it("what a relay serves is valid OpenAPI 3.1", async () => {
  const source = await served();
  expect(source).toContain('"openapi": "3.1');
  expect(await errorsIn(source)).toEqual([]);
});

it("the linter finds what is not valid", async () => {
  const source = JSON.stringify({ openapi: "3.1.0", info: { title: "no version" }, paths: {} });
  expect(await errorsIn(source)).not.toEqual([]);
});
