import { readFileSync } from "node:fs";
import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, it, vi } from "vitest";
import type { GuideShell } from "./guide-shell.ts";
import { parseGuide } from "./parse-guide.ts";
import { pairBrowser } from "./pair-browser.ts";
import { startRelay, startWorker } from "./start-world.ts";
import { testGuide } from "./test-guide.ts";

interface McpAddress {
  readonly command?: string;
  readonly args?: string[];
  readonly env?: Record<string, string>;
  readonly url?: string;
  readonly headers?: Record<string, string>;
}

/** The client of the most recently opened block, which stays open as it does for a user. */
let client: Client | undefined;
/** The id of the task in the latest answer that contained one. */
let taskId = "";
afterAll(() => client?.close());

testGuide("delegator.md", {
  async prepare(shell) {
    await startRelay(shell);
    await startWorker(shell);
  },
  clients: {
    pair: pairBrowser,
    /** Opens the server of a configuration block with the official client, and reads the account's balance. */
    async MCP(block, shell) {
      await client?.close();
      client = new Client({ name: "guide", version: "1" });
      const transport = toTransport(block, shell);
      let says = "";
      const listen = (data: Buffer) => (says += String(data));
      if (transport instanceof StdioClientTransport) transport.stderr?.on("data", listen);
      await client.connect(transport);
      // The balance is refused until the agent has joined its relay.
      const balance = await vi.waitFor(() => callTool("balance"), { timeout: 20_000 });
      const { agent_id: agentId } = JSON.parse(balance) as { agent_id: string };
      await shell.run(`DELEGATOR_ID=${agentId}`);
      if (!(transport instanceof StdioClientTransport)) return balance;
      await vi.waitUntil(() => says.includes(`This agent is ${agentId}. `), { timeout: 20_000 });
      return balance;
    },
    /**
     * Makes the call of a block; a returned receipt is verified once more, without the tools. Like a reader, it
     * replaces `TASK_ID` by the task of the latest answer.
     */
    async call(block, shell) {
      const filled = block.replaceAll("TASK_ID", taskId);
      const { name, arguments: args } = JSON.parse(filled) as Call;
      const text = await callTool(name, args);
      const answer = JSON.parse(text) as { receipt?: ExecutionReceipt; task_id?: string };
      if (answer.task_id !== undefined) {
        taskId = answer.task_id;
        await shell.run(`TASK_ID=${taskId}`);
      }
      const { receipt } = answer;
      if (receipt === undefined) return text;
      const { public_key: publicKey } = receipt;
      const { prompt } = args;
      const ordered = typeof prompt === "string" ? { prompt } : {};
      const { valid, code } = verifyReceipt(receipt, { publicKey, ...ordered });
      if (!valid) throw new Error(code);
      const verified = await callTool("verify_receipt", { receipt, key: publicKey });
      const { verdict } = JSON.parse(verified) as { verdict: string };
      if (verdict !== "valid") throw new Error(verified);
      return text;
    },
  },
});

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

function toTransport(block: string, shell: GuideShell): Transport {
  const config = JSON.parse(block) as { mcpServers: Record<string, McpAddress> };
  const { command = "", args = [], env, url, headers } = config.mcpServers["delegation"] ?? {};
  if (url !== undefined) {
    const requestInit = { headers: headers ?? {} };
    return new StreamableHTTPClientTransport(new URL(url), { requestInit });
  }
  const environment = { ...shell.variables, ...env };
  return new StdioClientTransport({ command, args, env: environment, stderr: "pipe" });
}

async function callTool(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content = [], isError } = (await client?.callTool({ name, arguments: args })) ?? {};
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  if (isError === true) throw new Error(text);
  return text;
}

it("docs/delegator.md shows the configuration of the README", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const configuration = /```json\n(.*?)```/s.exec(read("README.md"))?.[1];
  expect(parseGuide(read("docs/delegator.md"))[0]?.text).toBe(configuration);
});
