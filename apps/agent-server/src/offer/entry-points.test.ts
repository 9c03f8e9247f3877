import { bootstrapAgent, createRelayClient, mintToken, type RelayClient } from "@agent/client";
import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { connectServers, type ConnectedServers } from "../proxy/connect-servers.ts";
import { createSystemRuntime } from "../runtime.ts";
import type { RunningAgent } from "../start-agent.ts";
import { connectClient } from "../testing/tools/connect-client.ts";
import { filesystemServer, HARMLESS_TOOL } from "../testing/tools/filesystem-server.ts";
import { awaitReceipt } from "../testing/agents/await-receipt.ts";
import { submitForReceipt } from "../testing/agents/submit-for-receipt.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startAgentWithoutSocket } from "../testing/agents/agent-without-socket.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import type { Identity } from "../identity/identity.ts";

const runtime = createSystemRuntime(silentLog);
const listing = {
  capabilities: [HARMLESS_TOOL],
  pricing: [{ capability: HARMLESS_TOOL, unit_cost: 0.01 }],
};
const payer = createTestIdentity("payer");
const quiet = createTestIdentity("quiet");
let folder: string;
let relay: TestRelay;
let asPayer: RelayClient;
let deviceId: string;
let relayDid: string;
let socketAgent: RunningAgent;
let servers: ConnectedServers;
let mcpAgent: Awaited<ReturnType<typeof startAgentWithoutSocket>>;

/**
 * The official file server, wrapped by one agent with a socket and by one that has only an address.
 */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "files-"));
  await writeFile(join(folder, "secret.txt"), "the secret");
  relay = await startTestRelay();
  const { agentId, secretKey } = payer;
  const known = await bootstrapAgent({ ...runtime, baseUrl: relay.url, agentId, secretKey });
  if (!known.ok) throw new Error(known.message);
  asPayer = createRelayClient({ ...runtime, baseUrl: relay.url, identity: known.identity });
  ({ deviceId } = known.identity);
  const info = await relay.operator.relayInfo({});
  if (!info.ok) throw new Error(info.message);
  relayDid = info.body.did;
  await relay.operator.deposit({ params: { agentId }, body: { amount: 10 } });

  const files = filesystemServer(folder);
  socketAgent = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [],
    file: { listing, mcpServers: { files }, policy: { allow: ["agent_task", HARMLESS_TOOL] } },
  });
  const connected = await connectServers({ files }, { version: "0.0.0", runtime });
  if (!connected.ok) throw new Error(connected.faults.join("; "));
  servers = connected;
  mcpAgent = await startAgentWithoutSocket({
    relayUrl: relay.url,
    identity: quiet,
    tools: connected.tools,
    file: { listing },
  });
}, 60_000);
afterAll(async () => {
  await Promise.allSettled([socketAgent.stop(), mcpAgent.stop()]);
  await servers.close();
  await relay.stop();
  await rm(folder, { recursive: true });
});

function tokenFor(audience: string, scope: Scope[]): Promise<string> {
  const { agentId, secretKey } = payer;
  const jti = crypto.randomUUID();
  return mintToken({ agentId, deviceId, secretKey, audience, scope, now: Date.now(), jti });
}

type EntryPoint = (prompt: string, capabilities?: readonly string[]) => Promise<ExecutionReceipt>;

function throughRelay(agent: () => Identity): EntryPoint {
  return async (prompt, capabilities = []) => {
    const body = { prompt, required_capabilities: [...capabilities] };
    const receipt = await submitForReceipt(asPayer, agent().agentId, body);
    return receipt as unknown as ExecutionReceipt;
  };
}

const throughA2a: EntryPoint = async (text) => {
  const { agentId } = socketAgent.agent.identity;
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const token = await tokenFor(relayDid, ["task:read", "task:submit"]);
  const response = await fetch(`${relay.url}/a2a/${agentId}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "a2a-version": "1.0",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  const answer = (await response.json()) as { result?: { task?: { id: string } } };
  const taskId = answer.result?.task?.id;
  if (taskId === undefined) throw new Error(JSON.stringify(answer));
  const { receipt } = await awaitReceipt(asPayer, { agentId, taskId });
  return receipt as unknown as ExecutionReceipt;
};

async function callDirectly(
  name: string,
  args: Record<string, unknown>,
  running: RunningAgent = socketAgent,
) {
  const token = await tokenFor(running.agent.identity.did, []);
  const client = await connectClient(running.url, `agent:${token}`);
  try {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [block] = content;
    return { text: block?.type === "text" ? block.text : "", isError: isError === true };
  } finally {
    await client.close();
  }
}

const directly: EntryPoint = async (prompt, capabilities = []) => {
  const { text } = await callDirectly("agent_task", {
    prompt,
    required_capabilities: [...capabilities],
  });
  return JSON.parse(text) as ExecutionReceipt;
};

async function expectUntouched(): Promise<void> {
  expect(await readdir(folder)).toEqual(["secret.txt"]);
}

describe.each<[string, EntryPoint, () => Identity]>([
  ["the relay's socket", throughRelay(() => socketAgent.agent.identity), socket],
  ["MCP forward", throughRelay(() => quiet), () => quiet],
  ["A2A", throughA2a, socket],
  ["agent_task of a direct MCP call", directly, socket],
])("E1: through %s", (_, entryPoint, agent) => {
  test("E1: the listed tool of a wrapped server runs", async () => {
    const receipt = await entryPoint("what may be read?");
    expect(receipt).toMatchObject({ status: "completed", tools_used: [HARMLESS_TOOL] });
    expect(receipt.result).toContain(folder);
  });

  test.each<[string, (path: string) => string]>([
    ["name key=value", (path) => `write_file path="${path}" content=x`],
    ["name {json}", (path) => `read_text_file ${JSON.stringify({ path })}`],
    [
      "an object of tool and arguments",
      (path) => JSON.stringify({ tool: "write_file", arguments: { path, content: "x" } }),
    ],
  ])(
    "E1: an unlisted tool of a wrapped server does not run for a prompt of the form %s",
    async (_form, prompt) => {
      const name = prompt("").startsWith("read") ? "secret.txt" : "new.txt";
      const receipt = await entryPoint(prompt(join(folder, name)));
      expect(receipt).toMatchObject({ status: "denied", tools_used: [] });
      expect(receipt.result).not.toContain("the secret");
      const { publicKey } = agent();
      expect(verifyReceipt(receipt, { publicKey }).valid).toBe(true);
      await expectUntouched();
    },
  );
});

function socket(): Identity {
  return socketAgent.agent.identity;
}

describe("E1: a direct MCP call of a stranger", () => {
  test("E1: a direct call runs the listed tool of a wrapped server", async () => {
    const { text, isError } = await callDirectly(HARMLESS_TOOL, {});
    expect([isError, text]).toEqual([false, expect.stringContaining(folder)]);
  });

  test("E7: a direct call of a tool with a price is refused, and nothing is paid or done", async () => {
    const running = await startJoinedAgent({
      relayUrl: relay.url,
      tools: [],
      file: { listing, mcpServers: { files: filesystemServer(folder) } },
    });
    const { text, isError } = await callDirectly(HARMLESS_TOOL, {}, running);
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/^Policy denied: .* has a price/),
    ]);
    await running.stop();
  });

  test("E1: a direct call of an unlisted tool is refused, and nothing is read or written", async () => {
    const path = join(folder, "secret.txt");
    const read = await callDirectly("read_text_file", { path });
    const write = await callDirectly("write_file", { path: join(folder, "new"), content: "x" });
    for (const answer of [read, write]) {
      expect(answer.isError).toBe(true);
      expect(answer.text).toMatch(/does not offer/);
    }
    await expectUntouched();
  });
});

describe("B1: a required capability", () => {
  test.each(["made-up", "write_file"])(
    "B1: a required capability that is not offered (%s) gets a signed denied receipt, and no tool runs",
    async (capability) => {
      const receipt = await directly("what may be read?", [capability]);
      expect(receipt).toMatchObject({ status: "denied", tools_used: [] });
      expect(receipt.result).toContain(capability);
      const { publicKey } = socketAgent.agent.identity;
      expect(verifyReceipt(receipt, { publicKey }).valid).toBe(true);
    },
  );

  test("B1: a required capability that the agent offers is served", async () => {
    const receipt = await throughRelay(() => quiet)("x", [HARMLESS_TOOL]);
    expect(receipt).toMatchObject({ status: "completed", tools_used: [HARMLESS_TOOL] });
  });
});
