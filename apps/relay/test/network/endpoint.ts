import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import {
  createMcpHandler,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
} from "@modelcontextprotocol/server";
import { startLoopbackServer, type LoopbackServer, type TestAgent } from "@agent/testkit";
import { TASK_ORIGIN } from "@agent/wire";
import type { TestRelay } from "../test-relay.ts";

/** An HTTP request that an agent's endpoint received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

export interface Endpoint extends LoopbackServer {
  readonly requests: ReceivedRequest[];
}

export interface TaskArguments {
  readonly prompt: string;
  readonly relay_task_id: string;
  readonly required_capabilities?: string[];
}

/** Starts an HTTP server on a free port that records its requests. */
export async function startHttpEndpoint(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Endpoint> {
  const asked: ReceivedRequest[] = [];
  const server = await startLoopbackServer((request, response) => {
    const { method = "", url = "", headers } = request;
    asked.push({ method, url, headers });
    void answer(request, response);
  });
  return {
    url: `${server.url}/mcp`,
    requests: asked,
    close: server.close,
  };
}

type Tool = (args: TaskArguments, signal: AbortSignal) => CallToolResult | Promise<CallToolResult>;

export interface McpEndpoint extends Endpoint {
  readonly calls: TaskArguments[];
  /** The submitter, price and time limit that the relay stated with each call. */
  readonly origins: unknown[];
}

function mcpServers(tool: Tool) {
  const calls: TaskArguments[] = [];
  const origins: unknown[] = [];
  const newServer = () => {
    const server = new Server({ name: "worker", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "agent_task", inputSchema: { type: "object" as const } }],
    }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      if (params.name !== "agent_task") throw new Error(`no tool ${params.name}`);
      const args = params.arguments as unknown as TaskArguments;
      calls.push(args);
      origins.push(context.mcpReq._meta?.[TASK_ORIGIN]);
      return tool(args, context.mcpReq.signal);
    });
    return server;
  };
  return { newServer, calls, origins };
}

/**
 * Starts an MCP server of the current revision with one tool, `agent_task`; it answers 503 while it is not up.
 */
export async function startMcpEndpoint(tool: Tool, isUp = () => true): Promise<McpEndpoint> {
  const { newServer, ...recorded } = mcpServers(tool);
  const { fetch } = createMcpHandler(newServer, { legacy: "reject" });
  const endpoint = await startHttpEndpoint(
    getRequestListener((request) =>
      isUp() ? fetch(request) : new Response(null, { status: 503 }),
    ),
  );
  return { ...endpoint, ...recorded };
}

/** Starts an MCP server of the older revisions, which have a session for each client. */
export async function startSessionEndpoint(
  tool: Tool,
): Promise<McpEndpoint & { readonly sessions: () => number }> {
  const { newServer, ...recorded } = mcpServers(tool);
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const listener = getRequestListener(async (request) => {
    const id = request.headers.get("mcp-session-id");
    const existing = id === null ? undefined : transports.get(id);
    if (existing !== undefined) return existing.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${recorded.calls.length}-${transports.size}`,
      onsessioninitialized: (session) => void transports.set(session, transport),
      onsessionclosed: (session) => void transports.delete(session),
    });
    await newServer().connect(transport);
    return transport.handleRequest(request);
  });
  const endpoint = await startHttpEndpoint(listener);
  return { ...endpoint, ...recorded, sessions: () => transports.size };
}

export const textResult = (...texts: string[]): CallToolResult => ({
  content: texts.map((each) => ({ type: "text", text: each })),
});

/** Registers an agent's endpoint, to which the relay then sends the agent's pending tasks. */
export async function registerEndpoint(
  t: TestRelay,
  agent: TestAgent,
  endpointUrl: string,
): Promise<void> {
  const { status, body } = await t.as(agent, "POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: endpointUrl,
    capabilities: ["summarise"],
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
}
