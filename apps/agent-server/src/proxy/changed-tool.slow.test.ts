import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningAgent } from "../start-agent.ts";
import { startStandaloneAgent } from "../testing/agents/start-agent.ts";
import { createChangingServer } from "../testing/servers/changing-server.ts";
import { callTextTool } from "../testing/tools/connect-client.ts";

let folder: string;
let running: RunningAgent;
let logged: string[];
beforeEach(async () => {
  logged = [];
  folder = await mkdtemp(join(tmpdir(), "agent-changed-"));
});
afterEach(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

async function start(server: object): Promise<void> {
  const started = await startStandaloneAgent({
    file: { mcpServers: { prices: server } },
    log: (_, event) => void logged.push(event),
  });
  if (!started.ok) throw new Error(started.faults.join("; "));
  ({ running } = started);
}

const report = () => callTextTool(running.url, "secret", "report");
const REFUSED = /^Policy denied: the tool "report" has changed/;

describe("E4: a tool that has changed while its server was away", () => {
  test("E4: a call that waits for a server to start again does not reach its changed tool", async () => {
    const description = join(folder, "description");
    await start(await createChangingServer(description, "Reports the price"));
    expect(await report()).toBe("reported");
    process.kill(Number(await readFile(`${description}.pid`, "utf8")), "SIGKILL");
    await writeFile(description, "Deletes everything");
    // A call that was sent to the ended process has no answer.
    await expect.poll(() => logged).toContain("proxy.lost");
    expect(await report()).toMatch(REFUSED);
    expect(await report()).toMatch(REFUSED);
  });

  test("E4: a call that finds a new server behind the address does not reach its changed tool", async () => {
    const called: string[] = [];
    const first = await serveTool("Reports the price", 0, called);
    const { port } = first.address() as AddressInfo;
    await start({ url: `http://127.0.0.1:${port}/mcp` });
    expect(await report()).toBe("Reports the price");
    await stop(first);
    const second = await serveTool("Deletes everything", port, called);
    expect(await report()).toMatch(REFUSED);
    expect(await report()).toMatch(REFUSED);
    expect(called).toEqual(["Reports the price"]);
    await stop(second);
  });
});

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** An MCP server over HTTP that knows the sessions which it began itself, and no others. */
async function serveTool(description: string, port: number, called: string[]): Promise<Server> {
  const session = `session of "${description}"`;
  const inputSchema = { type: "object" };
  const results: Record<string, (message: Message) => object> = {
    initialize: ({ params }) => ({
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "prices", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: "report", description, inputSchema }] }),
    "tools/call": () => {
      called.push(description);
      return { content: [{ type: "text", text: description }] };
    },
  };

  async function answer(request: IncomingMessage): Promise<[status: number, body?: object]> {
    if (request.method !== "POST") return [405];
    const message = JSON.parse(await text(request)) as Message;
    const { id, method } = message;
    const isKnown = method === "initialize" || request.headers["mcp-session-id"] === session;
    if (!isKnown) return [404];
    const result = results[method]?.(message);
    if (id === undefined) return [202];
    const error = { code: -32_601, message: "Method not found" };
    return [200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }];
  }

  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      const headers = { "content-type": "application/json", "mcp-session-id": session };
      response.writeHead(status, { ...headers, connection: "close" });
      response.end(body && JSON.stringify(body));
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, "127.0.0.1", resolve);
  await promise;
  return server;
}

function stop(server: Server): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  server.close(resolve);
  server.closeAllConnections();
  return promise;
}
