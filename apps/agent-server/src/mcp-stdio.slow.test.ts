import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { verifyReceipt } from "@agent/receipts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const info = { name: "test", version: "1" };
const toolsModule = `export const tools = [{
  definition: { name: "shout", description: "", risk: 0, inputSchema: {
    type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  handler: ({ text }) => ({ ok: true, data: text.toUpperCase() }),
}]`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-mcp-"));
  await writeFile(join(folder, "tools.mjs"), toolsModule);
});
afterAll(() => rm(folder, { recursive: true }));

const describeServer = () => ({
  command: process.execPath,
  args: [
    "--conditions=agent-source",
    fileURLToPath(new URL("main.ts", import.meta.url)),
    "--transport=stdio",
    `--tools=${join(folder, "tools.mjs")}`,
  ],
  env: { AGENT_DATA_DIR: join(folder, "data"), LOG_LEVEL: "error" },
  stderr: "inherit" as const,
});

async function connect(mode: "auto" | "legacy"): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(describeServer()));
  return client;
}

async function connectOld(): Promise<OldClient> {
  const client = new OldClient(info);
  await client.connect(new OldStdio(describeServer()));
  return client;
}

test.each<[string, () => Promise<Client | OldClient>]>([
  ["the 2.x client in the newer era", () => connect("auto")],
  ["the 2.x client in the older era", () => connect("legacy")],
  ["the 1.x client", connectOld],
])("over stdio %s is the owner and gets receipts", async (_, open) => {
  const client = await open();
  const result = await client.callTool({ name: "agent_task", arguments: { prompt: "hello" } });
  await client.close();
  const [block] = result.content as { readonly text: string }[];
  const receipt = JSON.parse(block?.text ?? "") as { result: string };
  expect(receipt.result).toBe("HELLO");
  expect(verifyReceipt(receipt).valid).toBe(true);
});
