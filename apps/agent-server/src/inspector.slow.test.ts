import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatIdentityTag } from "./identity/identity-tag.ts";
import { startTestServer, TEST_TOKEN, type TestServer } from "./testing/agents/test-agent.ts";

const inspector = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);

const compiled = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };

let folder: string;
let server: TestServer;
let servers: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-inspector-"));
  server = await startTestServer();
  servers = join(folder, "servers.json");
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const agent = {
    command: process.execPath,
    args: ["--conditions=agent-source", main, "--transport", "stdio"],
    env: { ...compiled, AGENT_DATA_DIR: join(folder, "data"), LOG_LEVEL: "error" },
  };
  await writeFile(servers, JSON.stringify({ mcpServers: { agent } }));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/**
 * Rejects when the Inspector exits with another code than 0; `--strict` also rejects schemas that
 * other clients refuse.
 */
async function inspect(era: string, target: readonly string[], ...args: string[]) {
  const command = [
    inspector,
    "--cli",
    ...target,
    "--protocol-era",
    era,
    "--format",
    "json",
    ...args,
  ];
  const env = { ...compiled, PATH: process.env["PATH"], HOME: folder };
  const { stdout } = await promisify(execFile)(process.execPath, command, { env });
  return JSON.parse(stdout) as { result: Record<string, unknown> };
}

const overHttp = (bearer = TEST_TOKEN) => [
  server.url.href,
  "--stored-auth-only",
  "--header",
  `Authorization: Bearer ${bearer}`,
];
const overStdio = () => ["--config", servers, "--server", "agent"];

describe.each(["legacy", "auto", "modern"])("the MCP Inspector in the era %s", (era) => {
  test.each([
    ["over HTTP", overHttp],
    ["over stdio", overStdio],
  ])("%s accepts the schemas of the tools", async (_, target) => {
    const { result } = await inspect(era, target(), "--method", "tools/list", "--strict");
    expect(result["tools"]).toContainEqual(expect.objectContaining({ name: "agent_task" }));
  });

  test("a call by the Inspector is answered with the identity tag", async () => {
    const args = ["--tool-name", "shout", "--tool-args-json", '{"text":"hi"}'];
    const { result } = await inspect(era, overHttp(), "--method", "tools/call", ...args);
    expect(result["content"]).toEqual([
      { type: "text", text: "HI" },
      { type: "text", text: formatIdentityTag(server.agent.identity) },
    ]);
  });
});

test.each([
  ["resources/list", "resources", { uri: "agent://identity" }],
  ["prompts/list", "prompts", { name: "chat" }],
])("%s returns the agent's entries", async (method, member, entry) => {
  const { result } = await inspect("auto", overHttp(), "--method", method);
  expect(result[member]).toContainEqual(expect.objectContaining(entry));
});

test("the Inspector with a wrong token is refused", async () => {
  const listing = inspect("auto", overHttp("wrong"), "--method", "tools/list");
  await expect(listing).rejects.toThrow("auth_required");
});
