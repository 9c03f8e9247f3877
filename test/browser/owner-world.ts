import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalize, sha256Hex, uuidV7 } from "@agent/crypto";
import { createRelayClient, type RelayClient } from "@agent/client";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { vi } from "vitest";
import { startAgentProcess, type AgentProcess } from "../start-agent-process.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";

/** The agent that is paid, the agent that pays, and the relay between them, each as a process. */
export interface OwnerWorld {
  readonly relay: RelayProcess;
  readonly operator: RelayClient;
  readonly workerId: string;
  readonly payerId: string;
  /** Runs a command as the worker's owner while the worker is running. */
  runCommand(...args: string[]): AgentProcess;
  /** Submits a task from the payer to the worker and waits until it has a status. */
  order(prompt: string, status: string): Promise<string>;
  /** Starts an agent whose tool `deploy` waits for this approver's vote, and returns a function that calls it. */
  startSpender(
    approver: object,
    showsArguments: boolean,
  ): Promise<(text: string) => Promise<string>>;
  /** Lets this many agents that the worker does not know ask for its vote; returns the agents' ids. */
  askAsStrangers(count: number, call?: AskedCall): Promise<string[]>;
  close(): Promise<void>;
}

/** A call for which an agent requests approval; by default its arguments are not shown. */
export interface AskedCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

const TOOLS = `export const tools = [
  {
    definition: {
      name: "shout",
      description: "Says it louder",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      risk: 0,
    },
    handler({ text }) {
      if (text.includes("wait")) return new Promise(() => {});
      const failure = /^fail: (.*)$/s.exec(text);
      return failure ? { ok: false, error: failure[1] } : { ok: true, data: text.toUpperCase() };
    },
  },
];
`;

const DEPLOY = `export const tools = [
  {
    definition: {
      name: "deploy",
      description: "Deploys a site",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      risk: 3,
    },
    handler: ({ text }) => ({ ok: true, data: "deployed " + text }),
  },
];
`;

const TOKEN = "owner-of-the-spender";

export async function startOwnerWorld(): Promise<OwnerWorld> {
  const folder = mkdtempSync(join(tmpdir(), "owner-view-"));
  const relay = await startRelayProcess(undefined, { AGENT_RATE_LIMIT_SCALE: "0" });
  const identity = { masterToken: "test-master-token-0123456789" };
  const operator = createRelayClient({ baseUrl: relay.baseUrl, identity });
  const running: AgentProcess[] = [];

  async function startAgent(name: string, tools: string, config: object) {
    const own = join(folder, name);
    mkdirSync(own);
    writeFileSync(join(own, "tools.mjs"), tools);
    const settings = { name, tools: "./tools.mjs", dataDir: own, ...config };
    writeFileSync(join(own, "agent.json"), JSON.stringify(settings));
    const env = { AGENT_SYNC_URL: relay.baseUrl, AGENT_AUTH_TOKEN: TOKEN };
    const args = ["--config", join(own, "agent.json")];
    const agent = startAgentProcess(args, env);
    running.push(agent);
    const [url = ""] = await agent.waitForOutput(/listening on (\S+)[^]*registered at/);
    const file = JSON.parse(readFileSync(join(own, "identity.json"), "utf8")) as {
      agent_id: string;
    };
    return { url, args, env, agentId: file.agent_id };
  }

  const worker = await startAgent("word-shouter", TOOLS, {
    listing: { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 1.5 }] },
  });
  const payer = await startAgent("payer", DEPLOY, {});
  for (const { agentId } of [worker, payer]) {
    await operator.deposit({ params: { agentId }, body: { amount: 100 } });
  }

  return {
    relay,
    operator,
    workerId: worker.agentId,
    payerId: payer.agentId,
    runCommand(...args) {
      const command = startAgentProcess([...args, ...worker.args], worker.env);
      running.push(command);
      return command;
    },
    async order(prompt, status) {
      const params = { agentId: worker.agentId };
      const body = { prompt, submitted_by: payer.agentId };
      const submitted = await operator.submitTask({ params, body });
      if (!submitted.ok) throw new Error(submitted.message);
      const { task_id: taskId } = submitted.body;
      const hasStatus = async () => {
        const task = await operator.getTask({ params: { ...params, taskId } });
        return task.ok && task.body.task.status === status;
      };
      await vi.waitUntil(hasStatus, { timeout: 20_000, interval: 50 });
      return taskId;
    },
    async askAsStrangers(count, call) {
      const asked: string[] = [];
      for (let index = 0; index < count; index += 1) {
        asked.push(await askAsStranger(operator, worker.agentId, call));
      }
      return asked;
    },
    async startSpender(approver, showsArguments) {
      const quorum = { approvers: [approver], required: 1, show_arguments: showsArguments };
      const policy = { quorum };
      const name = showsArguments ? "open-spender" : "spender";
      const { url } = await startAgent(name, DEPLOY, { policy });
      return (text) => callDeploy(url, text);
    },
    async close() {
      await Promise.all(running.map((each) => each.stop()));
      await relay.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Registers an agent that asks for the vote of an approver, and returns the agent's id. */
async function askAsStranger(
  operator: RelayClient,
  approverId: string,
  call: AskedCall | undefined,
): Promise<string> {
  const agentId = uuidV7(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
  const agent = { endpoint_url: "http://127.0.0.1:1/mcp", capabilities: ["deploy"] };
  const registered = await operator.registerAgent({ body: { agent_id: agentId, ...agent } });
  if (!registered.ok) throw new Error(registered.message);
  const shown =
    call === undefined
      ? { args_hash: "ab".repeat(32) }
      : { args_hash: sha256Hex(canonicalize(call.args)), arguments: call.args };
  const quorum = { quorum_required: 1, quorum_approvers: [approverId] };
  const body = { tool_name: call?.tool ?? "deploy", ...shown, ...quorum };
  const asked = await operator.requestApproval({ params: { agentId }, body });
  if (!asked.ok) throw new Error(asked.message);
  return agentId;
}

async function callDeploy(url: string, text: string): Promise<string> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { content } = await client.callTool({ name: "deploy", arguments: { text } });
  await client.close();
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}
