import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { createTestAgent, createTestApp, TEST_TOKEN } from "../testing/agents/test-agent.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";
import { startListener, SERVER_TIMEOUTS, type Listener } from "./listener.ts";

const ran: string[] = [];
const note = createTextTool("note", (text) => {
  ran.push(text);
  return { ok: true, data: text };
});
const app = createTestApp(createTestAgent({ tools: [note] }));
const hasty = {
  headersTimeout: 200,
  requestTimeout: 400,
  keepAliveTimeout: 200,
  connectionsCheckingInterval: 50,
};

let listener: Listener;
let session: string;
beforeAll(async () => {
  const address = { host: "127.0.0.1", port: 0 };
  listener = await startListener(app, address, createSystemRuntime(silentLog), hasty);
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await fetch(`${listener.url}/mcp`, {
    method: "POST",
    headers: { ...ordinary, authorization: `Bearer ${TEST_TOKEN}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await opened.text();
  session = opened.headers.get("mcp-session-id") ?? "";
});
afterAll(async () => {
  await listener.close(0);
  await app.close();
});

const ordinary = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "note", arguments: { text: "half" } },
});

const post = (bearer: string, length: number) =>
  [
    "POST /mcp HTTP/1.1",
    `host: ${new URL(listener.url).host}`,
    `authorization: Bearer ${bearer}`,
    ...Object.entries(ordinary).map(([name, value]) => `${name}: ${value}`),
    `mcp-session-id: ${session}`,
    `content-length: ${length}`,
    "\r\n",
  ].join("\r\n");

/**
 * Sends the pieces, then a byte every 20 ms until the connection is closed; returns the status that
 * it received.
 */
async function say(pieces: string, more: string): Promise<number | undefined> {
  const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
  socket.on("error", () => {});
  let said = "";
  socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(socket, "connect");
  socket.write(pieces);
  const drip = setInterval(() => socket.write(more), 20);
  // A reset counts as an end, but `once` would reject with it.
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(drip);
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(said) ?? [];
  return status === undefined ? undefined : Number(status);
}

test("a client has 10 s for headers, 30 s for a request and 60 s between requests, checked every second", () => {
  expect(SERVER_TIMEOUTS).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    connectionsCheckingInterval: 1_000,
  });
});

describe("IN5 a client that takes longer is cut off, and reaches no tool", () => {
  test.each<[string, () => string, string]>([
    ["whose headers never end", () => "POST /mcp HTTP/1.1\r\n", "x-more: x\r\n"],
    ["that sends its call byte by byte", () => post(TEST_TOKEN, 5_000) + body, " "],
    ["that sends nothing of its call", () => post(TEST_TOKEN, 5_000), ""],
  ])("IN5 a client %s gets 408 and reaches no tool", async (_, pieces, more) => {
    expect(await say(pieces(), more)).toBe(408);
    expect(ran).toEqual([]);
  });

  test("a client without a token gets 401 without waiting for its body", async () => {
    expect(await say(post("x", 5_000), " ")).toBe(401);
  });

  test("100 slow clients without a token do not delay others", async () => {
    const crowd = Array.from({ length: 100 }, () => say(post(TEST_TOKEN, 5_000) + body, " "));
    for (let i = 0; i < 5; i += 1) {
      expect((await fetch(`${listener.url}/health`)).status).toBe(200);
    }
    expect(new Set(await Promise.all(crowd))).toEqual(new Set([408]));
    expect(ran).toEqual([]);
  });
});
