import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owner } from "../caller.ts";
import { rulesExecutor } from "../execution/executors/rules.ts";
import { serveStdioStreams } from "../stdio.ts";
import { startTestServer, TEST_TOKEN, type TestServer } from "../testing/agents/test-agent.ts";
import { callText, connectClient, type ProtocolEra } from "../testing/tools/connect-client.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";
import { compileTool } from "../tools/calling/compile-tool.ts";
import { parseMessage } from "./parse-message.ts";

let calls = 0;
const collect = compileTool({
  definition: {
    name: "collect",
    description: "Counts different things",
    inputSchema: { type: "object", properties: { list: { type: "array", uniqueItems: true } } },
    risk: 0,
  },
  handler: ({ list }) => {
    calls += 1;
    return { ok: true, data: `${(list as unknown[]).length} things` };
  },
});
const measureText = createTextTool("measure", (text) => ({ ok: true, data: String(text.length) }));

let server: TestServer;
let session: string;
beforeAll(async () => {
  server = await startTestServer({ tools: [collect, measureText], executor: rulesExecutor });
  const opened = await post({ id: 0, method: "initialize", params: initialize });
  session = opened.headers.get("mcp-session-id") ?? "";
});
afterAll(() => server.close());

const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

function post(message: object | string): Promise<Response> {
  const text =
    typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(server.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TEST_TOKEN}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
      ...(session && { "mcp-session-id": session }),
    },
    body: text,
  });
}

const objects = (count: number) => Array.from({ length: count }, (_, id) => ({ id, of: "x" }));
const fault = "`arguments` must hold at most 10000 values";
const refusal = `Invalid arguments for tool "collect": ${fault}`;

/** Expects the refusal of the call `id` in an answer of either kind, and that the tool did not run. */
async function expectRefused(response: Response, id: number, before: number): Promise<void> {
  expect(response.status).toBe(200);
  const text = (await response.text()).replace(/^event: message\ndata: /, "");
  expect(JSON.parse(text)).toMatchObject({
    id,
    result: { isError: true, content: [{ text: refusal }, { text: /^\[agent:/ }] },
  });
  expect(calls).toBe(before);
}

describe("H6: a call whose arguments hold too many values", () => {
  const args = { list: objects(20_000) };
  test.each<[string, object]>([
    ["its id first", { id: 5, method: "tools/call", params: { name: "collect", arguments: args } }],
    ["its id last", { method: "tools/call", params: { name: "collect", arguments: args }, id: 5 }],
    [
      "its name after the arguments",
      { id: 5, method: "tools/call", params: { arguments: args, name: "collect" } },
    ],
    [
      "meta data after the arguments",
      {
        method: "tools/call",
        params: { name: "collect", arguments: args, _meta: { progressToken: 1, of: [{}] } },
        id: 5,
      },
    ],
    [
      "texts that look like JSON",
      {
        method: "tools/call",
        params: { arguments: { list: ['"}]}', ...args.list, '\\"}],"id":6}'] }, name: "collect" },
        id: 5,
      },
    ],
  ])(
    "H6: a call with too many values and %s is refused by the name of the field",
    async (_, message) => {
      const before = calls;
      await expectRefused(await post(message), 5, before);
      const small = { name: "collect", arguments: { list: [1, 2] } };
      const next = await post({ id: 6, method: "tools/call", params: small });
      expect(await next.text()).toContain("2 things");
    },
  );

  test.each<ProtocolEra>(["auto", "legacy"])(
    "H6: the official client in the era %s reads the refusal and goes on",
    async (mode) => {
      const client = await connectClient(server.url, TEST_TOKEN, mode);
      const before = calls;
      expect(await callText(client, "collect", args)).toBe(refusal);
      expect(calls).toBe(before);
      const asked = client.callTool({ name: "collect", arguments: args }, { onprogress() {} });
      expect(await asked).toMatchObject({ isError: true, content: [{ text: refusal }, {}] });
      expect(await callText(client, "collect", { list: [1] })).toBe("1 things");
      await client.close();
    },
  );

  test("H6: a task whose prompt holds too many values for its tool fails by the same limit", async () => {
    const prompt = JSON.stringify({ list: objects(10_000) });
    const client = await connectClient(server.url, TEST_TOKEN);
    const before = calls;
    const receipt = JSON.parse(await callText(client, "agent_task", { prompt })) as object;
    await client.close();
    expect(receipt).toMatchObject({
      status: "failed",
      result: expect.stringContaining(fault) as string,
    });
    expect(calls).toBe(before);
  });

  test("H6: a call over stdio with too many values is refused by the same limit", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const handle = serveStdioStreams({
      newServer: () => server.agent.newServer(() => owner),
      input,
      output,
    });
    const send = (message: object) =>
      input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 0, method: "initialize", params: initialize });
    send({ method: "notifications/initialized" });
    send({ id: 1, method: "tools/call", params: { name: "collect", arguments: args } });
    let received = "";
    output.on("data", (chunk: Buffer) => (received += chunk.toString()));
    await expect.poll(() => received).toContain(JSON.stringify(refusal).slice(1, -1));
    await handle.close();
  });

  test("H6: any other message with too many values is refused, and its session stays open", async () => {
    const list = objects(20_000);
    const messages = [
      { id: 1, method: "tools/list", params: { list } },
      { id: 1, method: "prompts/get", params: { name: "x", arguments: { list } } },
      { id: 1, method: "tools/call", params: { name: "collect", list } },
      { id: 1, method: "tools/call", params: Object.fromEntries(list.map(({ id }) => [id, id])) },
    ].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));
    for (const message of [...messages, JSON.stringify(list)]) {
      const refused = await post(message);
      expect(refused.status).toBe(400);
      const text =
        "A message must hold at most 10000 values besides the `arguments` of a tool call";
      expect(await refused.json()).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: { code: -32600, message: text },
      });
    }
    expect((await post({ id: 1, method: "ping" })).status).toBe(200);
  });

  test("H6: a body that is not JSON is no message, however large it is", async () => {
    for (const end of ["", "}", "]}", '"', "}}}}}"]) {
      const body = `{"params":{"arguments":${JSON.stringify(args)}${end}`;
      expect((await post(body)).status).toBe(400);
    }
  });

  test("H6: a call is refused in less time than reading it would take", () => {
    const params = { name: "collect", arguments: args };
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const body = Buffer.from(text);
    const time = (work: () => unknown) => {
      const times = Array.from({ length: 15 }, () => {
        const startedAt = performance.now();
        work();
        return performance.now() - startedAt;
      });
      return times.toSorted((a, b) => a - b)[7] ?? 0;
    };
    expect(time(() => parseMessage(body))).toBeLessThan(time(() => JSON.parse(text)));
  });
});

describe("H6: large arguments within the limit", () => {
  test.each<[string, string, object, string]>([
    ["2,000 objects", "collect", { list: objects(2_000) }, "2000 things"],
    [
      "10,000 values",
      "collect",
      { list: Array.from({ length: 9_999 }, (_, i) => i) },
      "9999 things",
    ],
    ["one text of 200 KB", "measure", { text: "x".repeat(200_000) }, "200000"],
    ["one text of 400 KB of quotes", "measure", { text: '"'.repeat(200_000) }, "200000"],
    ["one text of commas", "measure", { text: ",[{".repeat(100_000) }, "300000"],
    ["one text of 300,000 backslashes", "measure", { text: "\\".repeat(300_000) }, "300000"],
  ])("H6: a call with %s runs", async (_, name, args, expected) => {
    const response = await post({ id: 1, method: "tools/call", params: { name, arguments: args } });
    expect(await response.json()).toMatchObject({ result: { content: [{ text: expected }, {}] } });
  });
});
