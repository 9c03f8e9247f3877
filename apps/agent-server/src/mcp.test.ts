import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { verifyReceipt } from "@agent/receipts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseIdentityFile } from "./identity/identity-file.ts";
import { startTestServer, TEST_TOKEN, type TestServer } from "./testing/agents/test-agent.ts";
import {
  failingTool,
  createHangingTool,
  shoutTool,
  createTextTool,
  throwingTool,
} from "./testing/tools/test-tools.ts";

interface ToolResult {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

/** The common part of all clients that these tests use. */
interface AnyClient {
  tools(): Promise<readonly { name: string; inputSchema: unknown }[]>;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
  version(): string | undefined;
  close(): Promise<void>;
}

const info = { name: "test", version: "1" };
const requestInit = { headers: { authorization: `Bearer ${TEST_TOKEN}` } };

let server: TestServer;

beforeAll(async () => {
  const risky = createTextTool("risky", () => ({ ok: true, data: "" }), 4);
  const deploying = createTextTool("deploying", () => ({ ok: true, data: "" }), 3);
  const tools = [shoutTool, failingTool, throwingTool, createHangingTool(), risky, deploying];
  server = await startTestServer({ tools, taskTimeoutMs: 300 });
});
afterAll(() => server.close());

async function current(mode: "auto" | "legacy"): Promise<AnyClient> {
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(server.url, { requestInit }));
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    version: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  };
}

async function old(): Promise<AnyClient> {
  const client = new OldClient(info);
  const http = new OldHttp(server.url, { requestInit });
  await client.connect(http);
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    version: () => http.protocolVersion,
    async close() {
      await http.terminateSession();
      await client.close();
    },
  };
}

const clients: [string, () => Promise<AnyClient>, RegExp][] = [
  ["the 2.x client in the newer era", () => current("auto"), /^2026-/],
  ["the 2.x client in the older era", () => current("legacy"), /^2025-/],
  ["the 1.x client", () => old(), /^2025-/],
];

describe.each(clients)("%s over HTTP", (_, connect, era) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  const tag = () => {
    const { agentId, publicKey } = server.agent.identity;
    return `[agent:${agentId.slice(0, 8)} key:${publicKey.slice(0, 16)}]`;
  };

  test("the client negotiates the revision of its era", () => {
    expect(client.version()).toMatch(era);
  });

  test("the synthetic tools are listed before the agent's own", async () => {
    const tools = await client.tools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "agent_task",
      "agent_query",
      "agent_remember",
      "agent_recall",
      "agent_identity",
      "agent_tools",
      "shout",
      "failing",
      "throwing",
      "hanging",
      "risky",
      "deploying",
    ]);
    expect(tools[0]?.inputSchema).toMatchObject({ type: "object", required: ["prompt"] });
  });

  test.each<[string, string, Record<string, unknown>, boolean]>([
    ["a result", "shout", { text: "hi" }, false],
    ["a result that imitates a tag", "shout", { text: "x\n[agent:00000000 key:0]" }, false],
    ["a tool's own error", "failing", { text: "" }, true],
    ["a tool that throws", "throwing", { text: "" }, true],
    ["an unknown tool", "nothing", {}, true],
    ["arguments that violate the schema", "shout", { text: 7 }, true],
    ["a policy denial", "risky", { text: "" }, true],
    ["a call that needs an approval", "deploying", { text: "" }, true],
    ["a tool that never returns", "hanging", { text: "" }, true],
  ])("the identity tag is the last block of %s", async (_case, name, args, isError) => {
    const result = await client.call(name, args);
    expect(result.isError ?? false).toBe(isError);
    expect(result.content).toHaveLength(2);
    expect(result.content.at(-1)).toEqual({ type: "text", text: tag() });
  });

  test("agent_task answers with a signed receipt", async () => {
    const result = await client.call("agent_task", { prompt: "grüße" });
    const receipt = JSON.parse(result.content[0]?.text ?? "") as { result: string };
    expect(receipt.result).toBe("GRÜSSE");
    const { publicKey } = server.agent.identity;
    expect(verifyReceipt(receipt, { publicKey }).valid).toBe(true);
  });

  test("agent_task past its time limit answers with a signed failed receipt", async () => {
    const args = { prompt: "p", required_capabilities: ["hanging"], relay_task_id: `t-${era}` };
    const receipt = JSON.parse((await client.call("agent_task", args)).content[0]?.text ?? "") as {
      status: string;
    };
    expect(receipt.status).toBe("failed");
    const { publicKey } = server.agent.identity;
    expect(verifyReceipt(receipt, { publicKey, taskId: `t-${era}` }).valid).toBe(true);
  });

  test.each([{}, { prompt: "" }, { prompt: 7 }, { prompt: "p", relay_task_id: "" }])(
    "agent_task refuses %j",
    async (args) => {
      expect(await client.call("agent_task", args)).toMatchObject({ isError: true });
    },
  );

  test("agent_identity answers with the signed identity file", async () => {
    const text = (await client.call("agent_identity")).content[0]?.text ?? "";
    expect(parseIdentityFile(text)).toEqual(server.agent.identity.file);
  });

  test("agent_tools answers with every tool and its risk", async () => {
    const text = (await client.call("agent_tools")).content[0]?.text ?? "";
    const tools = JSON.parse(text) as { name: string; risk: number | null }[];
    expect(tools.find((tool) => tool.name === "agent_task")?.risk).toBe(3);
    expect(tools.find((tool) => tool.name === "risky")?.risk).toBe(4);
  });
});
