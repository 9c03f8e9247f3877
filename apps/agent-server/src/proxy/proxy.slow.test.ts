import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import { mkdtempSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { owner } from "../caller.ts";
import { startListener } from "../http/listener.ts";
import { checkConfig } from "../config/check-config.ts";
import { parseFlags } from "../config/parse-flags.ts";
import { readConfig } from "../config/config.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime, type Runtime } from "../runtime.ts";
import type { RunningAgent } from "../start-agent.ts";
import {
  everythingOverStdio,
  everythingWithPidFile,
  startEverything,
} from "../testing/servers/everything-server.ts";
import { startStandaloneAgent } from "../testing/agents/start-agent.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { connectServers } from "./connect-servers.ts";
import { createConnection } from "./connection.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

const slowTest = { timeout: 20_000 };
const info = { name: "test", version: "1" };

async function connect({ url }: RunningAgent): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: "Bearer secret" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url ?? ""), { requestInit }));
  return client;
}

async function agentWith(mcpServers: unknown, file: object = {}): Promise<RunningAgent> {
  const started = await startStandaloneAgent({ file: { mcpServers, ...file } });
  if (!started.ok) throw new Error(started.faults.join("; "));
  return started.running;
}

async function faultsOf(
  mcpServers: unknown,
  tools: readonly RegisteredTool[] = [],
): Promise<readonly string[]> {
  const started = await startStandaloneAgent({ file: { mcpServers }, tools });
  if (!started.ok) return started.faults;
  await started.running.stop();
  return [];
}

describe("the tools of the official example server, over stdio", () => {
  let running: RunningAgent;
  let client: Client;
  beforeAll(async () => {
    running = await agentWith({
      everything: { ...everythingOverStdio, env: { FOR_THE_SERVER: "yes" } },
    });
    client = await connect(running);
  });
  afterAll(async () => {
    await client.close();
    await running.stop();
  });

  const tag = () => {
    const { agentId, publicKey } = running.agent.identity;
    return { type: "text", text: `[agent:${agentId.slice(0, 8)} key:${publicKey.slice(0, 16)}]` };
  };

  test("wrapped tools keep their names, schemas and annotations", async () => {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "get-sum")).toMatchObject({
      title: "Get Sum Tool",
      inputSchema: { required: ["a", "b"] },
      annotations: { readOnlyHint: true },
    });
  });

  test("wrapped tools without a stated risk count as R2", async () => {
    const { content } = await client.callTool({ name: "agent_tools", arguments: {} });
    const [block] = content as { text: string }[];
    const listed = JSON.parse(block?.text ?? "") as { name: string; risk: number | null }[];
    expect(listed.find(({ name }) => name === "echo")).toMatchObject({ risk: null });
  });

  test("wrapped tools answer as at their server, followed by the identity tag", async () => {
    const { content } = await client.callTool({ name: "echo", arguments: { message: "hi" } });
    expect(content).toEqual([{ type: "text", text: "Echo: hi" }, tag()]);
  });

  test("images and structured data arrive unchanged", async () => {
    const image = await client.callTool({ name: "get-tiny-image", arguments: {} });
    expect(image.content).toContainEqual(
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
    );
    expect(image.content.at(-1)).toEqual(tag());
    const location = { location: "New York" };
    const data = await client.callTool({ name: "get-structured-content", arguments: location });
    expect(data.structuredContent).toHaveProperty("temperature");
  });

  test("invalid arguments are refused by the wrapped server, with the identity tag", async () => {
    const answer = await client.callTool({ name: "get-sum", arguments: { a: "x" } });
    expect(answer.isError).toBe(true);
    expect(answer.content.at(-1)).toEqual(tag());
  });

  test("progress reaches the caller that requested it", async () => {
    const steps: number[] = [];
    await client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } },
      { onprogress: ({ progress }) => steps.push(progress) },
    );
    // The client of this test may miss the last notification if the answer arrives with it.
    expect(steps.slice(0, 2)).toEqual([1, 2]);
  });

  test("wrapped tools run in tasks, whose receipts name them", async () => {
    const { content } = await client.callTool({
      name: "agent_task",
      arguments: { prompt: "hello", required_capabilities: ["echo"] },
    });
    const [block] = content as { text: string }[];
    const receipt = JSON.parse(block?.text ?? "") as ExecutionReceipt;
    expect(receipt).toMatchObject({ result: "Echo: hello", tools_used: ["echo"] });
    expect(verifyReceipt(receipt).valid).toBe(true);
  });

  test("wrapped servers get their own variables and none of the agent's", async () => {
    const { content } = await client.callTool({ name: "get-env", arguments: {} });
    const [block] = content as { text: string }[];
    const env = JSON.parse(block?.text ?? "") as Record<string, string>;
    expect(env["FOR_THE_SERVER"]).toBe("yes");
    const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    expect(Object.keys(env).filter((name) => !inherited.includes(name))).toEqual([
      "FOR_THE_SERVER",
    ]);
  });
});

test("no progress is lost, even if it arrives together with the answer", async () => {
  const script = fileURLToPath(
    new URL("../testing/conformance/conformance-tools.ts", import.meta.url),
  );
  const runtime = createSystemRuntime(silentLog);
  const servers = await connectServers(
    { fixtures: { command: process.execPath, args: [script], env: {} } },
    { version: "1", runtime },
  );
  if (!servers.ok) throw new Error(servers.faults.join("; "));
  const counting = servers.tools.find(({ definition }) => definition.name.endsWith("_progress"));
  for (let round = 0; round < 5; round += 1) {
    const steps: number[] = [];
    const { signal } = new AbortController();
    const progress = (step: { progress: number }) => void steps.push(step.progress);
    await counting?.handler({}, { signal, caller: owner, progress });
    expect(steps).toEqual([0, 50, 100]);
  }
  await servers.close();
});

describe("the policy applies to wrapped tools", () => {
  test("a wrapped tool above the agent's limit is denied", async () => {
    const policy = { max_risk_auto: 1, require_approval_above: 1, deny_above: 1 };
    const running = await agentWith({ everything: everythingOverStdio }, { policy });
    const client = await connect(running);
    const answer = await client.callTool({ name: "echo", arguments: { message: "hi" } });
    expect(answer).toMatchObject({ isError: true, content: [{ text: /^Policy denied: / }, {}] });
    await client.close();
    await running.stop();
  });
});

describe("a call that runs out of time", () => {
  test("a call past its time limit is aborted at the wrapped server", async () => {
    const aborted = Promise.withResolvers<string>();
    const behind = createMcpHandler(() => {
      const server = new McpServer(info);
      server.registerTool("wait", { description: "Never ends" }, ({ mcpReq }) => {
        mcpReq.signal.addEventListener("abort", () => aborted.resolve("aborted"));
        return new Promise(() => {});
      });
      return server;
    });
    const runtime = createSystemRuntime(silentLog);
    const app = { fetch: (request: Request) => behind.fetch(request), close: () => behind.close() };
    const listener = await startListener(app, { host: "127.0.0.1", port: 0 }, runtime);
    const running = await agentWith({ behind: { url: listener.url } }, { taskTimeoutMs: 200 });
    const client = await connect(running);
    expect(await client.callTool({ name: "wait", arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: 'Tool "wait" did not finish within 200 ms' }, {}],
    });
    expect(await aborted.promise).toBe("aborted");
    await client.close();
    await running.stop();
    await listener.close(0);
    await app.close();
  });
});

describe("a server that is lost", () => {
  test("a lost server over stdio is started again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-proxy-"));
    const pidFile = join(folder, "pid");
    const running = await agentWith({ everything: everythingWithPidFile(pidFile) });
    const client = await connect(running);
    const pid = Number(await readFile(pidFile, "utf8"));
    process.kill(pid, "SIGKILL");
    await expect
      .poll(() => client.callTool({ name: "echo", arguments: { message: "again" } }), slowTest)
      .toMatchObject({ content: [{ text: "Echo: again" }, {}] });
    expect(Number(await readFile(pidFile, "utf8"))).not.toBe(pid);
    await client.close();
    await running.stop();
    await rm(folder, { recursive: true });
  });

  test("a lost server over HTTP is called again, in a new session if it lost the old one", async () => {
    const first = await startEverything();
    const running = await agentWith({ everything: { url: first.url } });
    const client = await connect(running);
    const echo = () => client.callTool({ name: "echo", arguments: { message: "hi" } });
    expect(await echo()).toMatchObject({ content: [{ text: "Echo: hi" }, {}] });
    await first.stop();
    expect(await echo()).toMatchObject({
      isError: true,
      content: [{ text: 'The server behind tool "echo" gave no answer' }, {}],
    });
    const second = await startEverything(Number(new URL(first.url).port));
    expect(await echo()).toMatchObject({ content: [{ text: "Echo: hi" }, {}] });
    await client.close();
    await running.stop();
    await second.stop();
  });
});

describe("a faulty wrapped server", () => {
  test("a server that cannot be reached or started stops the start", async () => {
    const faults = await faultsOf({
      gone: { url: "http://127.0.0.1:9/mcp" },
      missing: { command: "/no/such/program" },
    });
    expect(faults).toEqual([
      expect.stringMatching(/^mcpServers\.gone: cannot be reached: /),
      expect.stringMatching(/^mcpServers\.missing: cannot be reached: .*ENOENT/),
    ]);
  });

  test("two tools of one name stop the start", async () => {
    const echo = createTextTool("echo", () => ({ ok: true, data: "" }));
    expect(await faultsOf({ everything: everythingOverStdio }, [echo])).toEqual([
      'tool "echo" is defined twice (MCP server "everything")',
    ]);
    const both = await faultsOf({ one: everythingOverStdio, two: everythingOverStdio });
    expect(both).toContain('tool "echo" is defined twice (MCP server "one", MCP server "two")');
  });
});

/**
 * The source of an MCP server that runs `onList` when its tools are listed; it defines
 * `answer(result)`.
 */
function serverThatLists(onList: string): string {
  return `const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
    process.stdin.on("data", (data) => {
      for (const line of String(data).trim().split("\\n")) {
        const { id, method, params } = JSON.parse(line);
        const answer = (result) => say({ id, result });
        const { protocolVersion } = params ?? {};
        const serverInfo = { name: "made-up", version: "1" };
        if (method === "tools/list") { ${onList} }
        else if (method === "initialize") answer({ protocolVersion, capabilities: { tools: {} }, serverInfo });
        else if (id !== undefined) say({ id, error: { code: -32601, message: "unknown" } });
      }
    })`;
}

test("E1: --check-config reports a wrapped tool named like one of the agent's own", async () => {
  const tools = `[{ name: "agent_task", inputSchema: { type: "object" } }]`;
  const args = ["-e", serverThatLists(`answer({ tools: ${tools} })`)];
  const read = readConfig({
    file: {
      path: "/config.json",
      text: JSON.stringify({
        authToken: "secret",
        mcpServers: { made: { command: process.execPath, args } },
      }),
    },
    env: {},
    flags: parseFlags([]).flags,
    workingDirectory: "/",
  });
  if (!read.ok) throw new Error(read.faults.join("; "));
  const edge = { version: "0", runtime: createSystemRuntime(silentLog) };
  expect(await checkConfig({ config: read.config, tools: [] }, edge)).toEqual({
    ok: false,
    faults: ['tool "agent_task" is defined twice (MCP server "made")'],
  });
});

describe("E3: the first start of a wrapped server", () => {
  /** A server that starts once a file is there. */
  function startsWith(file: string) {
    const [script] = everythingOverStdio.args;
    const code = `const { existsSync } = await import("node:fs");
      while (!existsSync(${JSON.stringify(file)})) await new Promise((next) => setTimeout(next, 20));
      process.argv[2] = "stdio"; await import(${JSON.stringify(script)});`;
    return { command: process.execPath, args: ["--input-type=module", "-e", code], env: {} };
  }
  const failing = (code: string, env: Record<string, string> = {}) => ({
    command: process.execPath,
    args: ["-e", code],
    env,
  });

  /** `onWait` is called when the log shall name the server that the start waits for, unless that has ended. */
  async function open(
    server: Parameters<typeof connectServers>[0][string],
    onWait?: (task: () => void) => void,
  ) {
    const lines: unknown[] = [];
    const waits = { begun: 0, ended: 0 };
    const log: Runtime["log"] = (_level, event, fields) => {
      if (event === "proxy.waiting") lines.push(fields);
    };
    const system = createSystemRuntime(silentLog);
    const schedule: Runtime["schedule"] = (ms, task) => {
      if (ms !== 2_000) return system.schedule(ms, task);
      waits.begun += 1;
      onWait?.(task);
      return () => void (waits.ended += 1);
    };
    const runtime = { ...system, log, schedule };
    const connected = await connectServers({ files: server }, { version: "0", runtime });
    if (connected.ok) await connected.close();
    return { connected, lines, waits };
  }

  test(
    "E3: a first start is logged after two seconds, and a faster one is not",
    slowTest,
    async () => {
      const file = join(mkdtempSync(join(tmpdir(), "first-start-")), "go");
      const slow = await open(startsWith(file), (passTwoSeconds) => {
        passTwoSeconds();
        writeFileSync(file, "");
      });
      const quick = await open({ ...everythingOverStdio, env: {} });
      expect([slow.connected.ok, slow.lines]).toEqual([
        true,
        [{ server: "files", for: process.execPath, at_most_ms: 180_000 }],
      ]);
      expect([quick.connected.ok, quick.lines]).toEqual([true, []]);
      expect(quick.waits).toEqual({ begun: 1, ended: 1 });
    },
  );

  test(
    "E3: a failed first start shows the server's standard error without its secrets",
    slowTest,
    async () => {
      const code = `console.error("npm error 404\\nno package for " + process.env.NPM_KEY); process.exit(1)`;
      const { connected } = await open(failing(code, { NPM_KEY: "canary-key" }));
      expect(connected.ok ? [] : connected.faults).toEqual([
        expect.stringMatching(
          /^mcpServers\.files: .*npm error 404 \| no package for \[redacted\]$/,
        ),
      ]);
    },
  );

  test(
    "E3: a failed listing of tools shows the server's standard error too",
    slowTest,
    async () => {
      const code = serverThatLists(
        `console.error("DB_URL is not set"); setTimeout(() => process.exit(3), 50);`,
      );
      const { connected } = await open(failing(code));
      expect(connected.ok ? [] : connected.faults).toEqual([
        expect.stringMatching(
          /^mcpServers\.files: does not list its tools: .*standard error: DB_URL is not set$/,
        ),
      ]);
    },
  );

  test("E3: a first start may take 180 seconds", async () => {
    const waits: number[] = [];
    const connectTo = vi
      .spyOn(Client.prototype, "connect")
      .mockImplementation(async (_, options) => {
        waits.push(options?.timeout ?? 0);
        throw new Error("not reached");
      });
    const connection = createConnection({
      name: "files",
      address: failing(""),
      version: "0",
      runtime: createSystemRuntime(silentLog),
    });
    await expect(connection.open()).rejects.toThrow("not reached");
    connectTo.mockRestore();
    expect(waits).toEqual([180_000]);
  });
});
