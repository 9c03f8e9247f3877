import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RunningAgent } from "./start-agent.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const OWNER = "owner-of-the-clients";
const folder = mkdtempSync(join(tmpdir(), "agent-owner-"));
let relay: TestRelay;
let worker: RunningAgent;

beforeAll(async () => {
  relay = await startTestRelay();
  worker = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [createTextTool("shout", (text) => ({ ok: true, data: text.toUpperCase() }))],
    file: {
      name: "worker",
      listing: {
        capabilities: ["shout"],
        pricing: [{ capability: "shout", unit_cost: 1 }],
        acceptance: { window_ms: 60_000 },
      },
      offer: { shout: ["shout"] },
    },
  });
});
afterAll(async () => {
  await worker.stop();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

interface Connection {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

/** The client starts the agent server itself, as the configuration of an MCP client says. */
async function openStdio(): Promise<Connection> {
  const client = new Client({ name: "owner", version: "1" });
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ["--conditions=agent-source", main, "--transport=stdio"],
    env: {
      AGENT_DELEGATION: "true",
      AGENT_SYNC_URL: relay.url,
      AGENT_DATA_DIR: join(folder, "stdio"),
      LOG_LEVEL: "error",
    },
    stderr: "inherit",
  });
  await client.connect(transport);
  return { client, close: () => client.close() };
}

async function openHttp(): Promise<Connection> {
  const owner = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [],
    file: { delegation: true },
    env: { AGENT_AUTH_TOKEN: OWNER },
  });
  const client = new Client({ name: "owner", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${OWNER}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(owner.url ?? ""), { requestInit }),
  );
  const close = async () => {
    await client.close();
    await owner.stop();
  };
  return { client, close };
}

describe.each([
  ["stdio", openStdio],
  ["HTTP", openHttp],
])("the official client over %s", { timeout: 60_000 }, (_, open) => {
  let connection: Connection;
  let key: string;
  beforeAll(async () => {
    connection = await open();
    // The agent joins its relay while the client is already connected.
    const agentId = await vi.waitUntil(readOwnId, { timeout: 30_000 });
    await relay.operator.deposit({ params: { agentId }, body: { amount: 10 } });
    key = worker.agent.identity.publicKey;
  }, 60_000);
  afterAll(() => connection.close());

  /** Calls a tool; a refusal is its text. */
  async function call(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
    const { content, isError } = await connection.client.callTool({ name, arguments: args });
    const [block] = content;
    const text = block?.type === "text" ? block.text : "";
    return isError === true ? text : JSON.parse(text);
  }

  /** Returns the id of the owner's agent; undefined before it has joined its relay. */
  async function readOwnId(): Promise<string | undefined> {
    const account = await call("balance");
    return typeof account === "string" ? undefined : (account as { agent_id: string }).agent_id;
  }

  const balance = async () => ((await call("balance")) as { balance: number }).balance;

  /** Orders a task whose result is held for inspection. */
  async function orderInspected(prompt: string) {
    const order = { prompt, required_capabilities: ["shout"], max_budget: 1.2, inspect: true };
    const done = (await call("delegate_task", order)) as { task_id: string; receipt: object };
    expect(done).toMatchObject({ status: "completed", result: prompt.toUpperCase() });
    expect(done).toMatchObject({ amount_charged: null, verdict: { valid: true } });
    return done;
  }

  test("an owner can find an agent, delegate to it, accept and pay the result, and verify it", async () => {
    const found = (await call("find_agents", { capability: "shout" })) as { agents: object[] };
    expect(found.agents).toMatchObject([{ agent_id: worker.agent.identity.agentId, price: 1 }]);
    const before = await balance();
    const { task_id, receipt } = await orderInspected("accept this");
    expect(await call("inspect_result", { task_id, verdict: "accepted" })).toMatchObject({
      state: "closed",
      share: 1,
    });
    expect(await call("task_status", { task_id })).toMatchObject({ amount_charged: 1 });
    expect(await balance()).toBe(before - 1);
    expect(await call("verify_receipt", { receipt, key })).toMatchObject({ verdict: "valid" });
  });

  test("an owner can reject a result with an offer, and can still accept it while the case is open", async () => {
    const before = await balance();
    const { task_id } = await orderInspected("reject this");
    const statement = { verdict: "rejected", reason: "It is not loud enough.", offer: 0.5 };
    expect(await call("inspect_result", { task_id, ...statement })).toMatchObject({
      state: "rejected",
      share: null,
    });
    expect(await call("inspect_result", { task_id, verdict: "accepted" })).toMatchObject({
      state: "closed",
      share: 1,
    });
    expect(await balance()).toBe(before - 1);
  });

  test("an owner's tools accept neither a receipt under the key of another agent nor a changed receipt", async () => {
    const { receipt } = await orderInspected("whose key");
    const other = "ab".repeat(32);
    expect(await call("verify_receipt", { receipt, key: other })).toMatch(/\(receipt\.\w+\)/);
    const forged = { ...receipt, result: "PAID" };
    expect(await call("verify_receipt", { receipt: forged, key })).toMatch(/\(receipt\.\w+\)/);
  });
});
