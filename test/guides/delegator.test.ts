import { readFileSync } from "node:fs";
import { verifyReceipt } from "@agent/receipts";
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, it } from "vitest";
import type { GuideShell } from "./guide-shell.ts";
import { parseGuide } from "./parse-guide.ts";
import { startRelay, startWorker } from "./start-world.ts";
import { testGuide } from "./test-guide.ts";

interface McpAddress {
  readonly command?: string;
  readonly args?: string[];
  readonly env?: Record<string, string>;
  readonly url?: string;
  readonly headers?: Record<string, string>;
}

/** The client of the block that was opened last, as a user has it open. */
let client: Client | undefined;
afterAll(() => client?.close());

testGuide("delegator.md", {
  async prepare(shell) {
    await startRelay(shell);
    await startWorker(shell);
  },
  clients: {
    /** Opens the server of a configuration block with the official client, and reads its id. */
    async MCP(block, shell) {
      await client?.close();
      client = new Client({ name: "guide", version: "1" });
      const transport = toTransport(block, shell);
      let says = "";
      const listen = (data: Buffer) => (says += String(data));
      if (transport instanceof StdioClientTransport) transport.stderr?.on("data", listen);
      await client.connect(transport);
      await expect.poll(readBalance, { timeout: 20_000 }).toMatchObject({ balance: 0 });
      const { agent_id: agentId, how_to_deposit: advice } = await readBalance();
      expect(advice).toContain(agentId);
      if (transport instanceof StdioClientTransport) {
        await expect.poll(() => says).toContain(`This agent is ${String(agentId)}. `);
      }
      await shell.run(`DELEGATOR_ID=${String(agentId)}`);
    },
    /** Makes the call of a block; what a delegation returns is verified once more, without the tools. */
    async call(block) {
      const { name, arguments: args } = JSON.parse(block) as Call;
      const answer = await callTool(name, args);
      if (name !== "delegate_task") return expect(answer).toMatchObject({ agents: [{ price: 1 }] });
      const prompt = String(args["prompt"]);
      const result = prompt.toUpperCase();
      expect(answer).toMatchObject({ status: "completed", result, amount_charged: 1 });
      const { receipt } = answer as { receipt: { public_key: string } };
      const key = receipt.public_key;
      expect(verifyReceipt(receipt, { publicKey: key, prompt }).valid).toBe(true);
      const verified = await callTool("verify_receipt", { receipt, key });
      expect(verified).toMatchObject({ verdict: "valid" });
      expect(await readBalance()).toMatchObject({ balance: 9 });
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

async function callTool(name: string, args: Record<string, unknown>) {
  const { content = [], isError } = (await client?.callTool({ name, arguments: args })) ?? {};
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  if (isError === true) throw new Error(text);
  return JSON.parse(text) as Record<string, unknown>;
}

/** The balance, or the refusal while the agent has not joined yet. */
async function readBalance(): Promise<Record<string, unknown>> {
  try {
    return await callTool("balance", {});
  } catch (error) {
    return { refused: String(error) };
  }
}

it("shows the configuration of the README", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const configuration = /```json\n(.*?)```/s.exec(read("README.md"))?.[1];
  expect(parseGuide(read("docs/delegator.md"))[0]?.text).toBe(configuration);
});
