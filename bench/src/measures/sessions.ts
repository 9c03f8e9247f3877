import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild, type Child } from "../child.ts";
import { computeMedian, printFigures } from "../figures.ts";
import { createHttpClient, measureRate } from "../load.ts";

const ROUNDS = 5;
const SECONDS = 3;
const MCP_PATH = "/mcp";
const PROTOCOL_VERSION = "2025-11-25";
export const OWNER_TOKEN = "bench-token-of-the-owner-0123456789";

export interface SessionSide {
  /** Calls a tool and returns the answer's text. */
  readonly call: (name: string, args: object) => Promise<string>;
  /** The same with the arguments as JSON text, for a caller that sends them repeatedly. */
  readonly callWithText: (name: string, argsText: string) => Promise<string>;
  readonly callOnce: () => Promise<void>;
  /** Closes the session, but leaves the server running for others. */
  readonly close: () => Promise<void>;
}

/**
 * Opens an MCP session of the stateful protocol, over the same kind of persistent connections as the bare
 * posts.
 */
export async function openSession({ url }: Pick<Child, "url">): Promise<SessionSide> {
  const headers = { accept: "application/json, text/event-stream" };
  const opened = await fetch(url + MCP_PATH, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      authorization: `Bearer ${OWNER_TOKEN}`,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: PROTOCOL_VERSION,
        capabilities: {},
        clientInfo: { name: "bench", version: "1" },
      },
    }),
  });
  await opened.text();
  const session = opened.headers.get("mcp-session-id");
  if (session === null) throw new Error(`no session: ${opened.status}`);
  const { post, close } = createHttpClient(url, {
    ...headers,
    "mcp-session-id": session,
    "mcp-protocol-version": PROTOCOL_VERSION,
  });
  const notify = { jsonrpc: "2.0", method: "notifications/initialized" };
  await post(MCP_PATH, JSON.stringify(notify), OWNER_TOKEN);
  const text = "x".repeat(1_300);
  let id = 0;
  const callWithText = (name: string, argsText: string) => {
    const head = `{"jsonrpc":"2.0","id":${(id += 1)},"method":"tools/call"`;
    const params = `{"name":"${name}","arguments":${argsText}}`;
    return post(MCP_PATH, `${head},"params":${params}}`, OWNER_TOKEN);
  };
  const call = (name: string, args: object) => callWithText(name, JSON.stringify(args));
  return {
    call,
    callWithText,
    async callOnce() {
      const answer = await call("echo", { text });
      if (!answer.includes(text)) throw new Error(answer.slice(0, 200));
    },
    close,
  };
}

/** Measures tool calls per second in a session and in the bare MCP server, and bare posts per second. */
export async function benchmarkSessions(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bare = await startChild("./bare-server.ts", {});
  const poster = createHttpClient(bare.url);
  const bareServer = await startChild("./bare-mcp-server.ts", {});
  const agentServer = await startChild("../../apps/agent-server/src/main.ts", {
    AGENT_TOOLS: fileURLToPath(new URL("../tools/echo-tool.ts", import.meta.url)),
    AGENT_AUTH_TOKEN: OWNER_TOKEN,
    AGENT_PORT: "0",
    AGENT_DATA_DIR: folder,
    LOG_LEVEL: "error",
  });
  const [bareMcp, agent] = [await openSession(bareServer), await openSession(agentServer)];
  const body = JSON.stringify({ id: "x", prompt: "x".repeat(1_450) });
  const rates = { bare: [] as number[], bareMcp: [] as number[], agent: [] as number[] };
  try {
    for (const side of [bareMcp, agent]) await measureRate(1, side.callOnce);
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(await measureRate(SECONDS, async () => void (await poster.post("/", body))));
      rates.bareMcp.push(await measureRate(SECONDS, bareMcp.callOnce));
      rates.agent.push(await measureRate(SECONDS, agent.callOnce));
    }
  } finally {
    await Promise.all([poster, bareMcp, agent].map((client) => client.close()));
    await Promise.all([bare, bareServer, agentServer].map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  }
  const of = (side: keyof typeof rates) => computeMedian(rates[side]);
  console.log(
    `a second, median of ${ROUNDS}: bare posts ${of("bare").toFixed(0)}, ` +
      `calls of the bare MCP server ${of("bareMcp").toFixed(0)}, of an agent ${of("agent").toFixed(0)}`,
  );
  printFigures([
    {
      name: "session tool calls / those of the bare MCP server",
      value: of("agent") / of("bareMcp"),
      floor: 0.7,
      goal: 0.9,
    },
    {
      name: "session tool calls / bare posts",
      value: of("agent") / of("bare"),
      floor: 0.3,
      goal: 0.6,
    },
  ]);
}
