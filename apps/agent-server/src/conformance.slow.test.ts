import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningAgent } from "./start-agent.ts";
import { conformanceSkips } from "./testing/conformance/conformance-skips.ts";
import { startStandaloneAgent } from "./testing/agents/start-agent.ts";
import { compileTool } from "./tools/calling/compile-tool.ts";
import type { JsonObject } from "./tools/definition.ts";

const runner = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/conformance/dist/index.js",
);
const run = promisify(execFile);

interface Check {
  readonly id: string;
  readonly status: string;
}

const tools = [
  compileTool({
    definition: {
      name: "test_simple_text",
      description: "A text",
      risk: 0,
      inputSchema: { type: "object" },
    },
    handler: () => ({ ok: true, data: "This is a simple text response for testing." }),
  }),
  compileTool({
    definition: {
      name: "json_schema_2020_12_tool",
      description: "Every keyword that the suite looks for",
      risk: 0,
      inputSchema: JSON.parse(`{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties":
          { "street": { "type": "string" }, "city": { "type": "string" } } } },
        "properties": {
          "name": { "type": "string" },
          "address": { "$ref": "#/$defs/address" },
          "contactMethod": { "type": "string", "enum": ["phone", "email"] },
          "phone": { "type": "string" },
          "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } },
          "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
      }`) as JsonObject,
    },
    handler: () => ({ ok: true, data: "" }),
  }),
];

let running: RunningAgent;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-conformance-"));
  const script = fileURLToPath(
    new URL("testing/conformance/conformance-tools.ts", import.meta.url),
  );
  const started = await startStandaloneAgent({
    tools,
    args: ["--allow-anonymous"],
    env: {},
    file: { mcpServers: { fixtures: { command: process.execPath, args: [script] } } },
  });
  if (!started.ok) throw new Error(started.faults.join("; "));
  ({ running } = started);
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

/** The runner's list of the scenarios of a revision for servers, scored or not. */
async function scenariosOf(revision: string): Promise<string[]> {
  const { stdout } = await run(process.execPath, [
    runner,
    "list",
    "--server",
    "--requirements",
    revision,
  ]);
  const [ofServers = "", ofClients = ""] = stdout.split("Client scenarios");
  const named = [
    ...ofServers.matchAll(/^ +- (\S+)$/gm),
    ...ofClients.matchAll(/- (\S+) \[server\]/g),
  ];
  return named.map(([, name = ""]) => name);
}

/** Runs all scenarios and reads the results that the runner wrote. */
async function resultsOf(revision: string): Promise<Map<string, readonly Check[]>> {
  const output = join(folder, revision);
  const args = ["server", "--url", running.url ?? "", "--requirements", revision, "-o", output];
  // The runner exits with 1 even if only skipped scenarios failed, so its files are what counts.
  await run(process.execPath, [runner, ...args]).catch(() => {});
  const results = new Map<string, readonly Check[]>();
  for (const name of await readdir(output)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(name)?.[1] ?? name;
    const text = await readFile(join(output, name, "checks.json"), "utf8");
    results.set(scenario, JSON.parse(text) as Check[]);
  }
  return results;
}

describe.each(Object.entries(conformanceSkips))(
  "the official conformance suite, %s",
  (revision, skipped) => {
    test("the agent server passes every scenario of the conformance suite except those skipped with a reason", async () => {
      const results = await resultsOf(revision);
      expect([...results.keys()].toSorted()).toEqual((await scenariosOf(revision)).toSorted());
      const failed = [...results].flatMap(([scenario, checks]) =>
        checks
          .filter(({ status }) => status === "FAILURE")
          .map(({ id }) => (scenario in skipped ? scenario : `${scenario}:${id}`)),
      );
      // A scenario that passes must not stay skipped.
      expect([...new Set(failed)].toSorted()).toEqual(Object.keys(skipped).toSorted());
    });
  },
);
