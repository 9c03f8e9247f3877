import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../caller.ts";
import { startTestServer, TEST_TOKEN, type TestServer } from "../testing/agents/test-agent.ts";
import { createHangingTool, shoutTool, createTextTool } from "../testing/tools/test-tools.ts";

const alice: Caller = { kind: "agent", agentId: "alice", trust: "trusted" };
const ran: string[] = [];
const aborted: (() => void)[] = [];
const noting = createTextTool("note", (text, { caller }) => {
  ran.push(`${caller.kind} ${text}`);
  return { ok: true, data: text };
});

let server: TestServer;
let session: string;
let open: Socket[];

beforeEach(async () => {
  ran.length = 0;
  open = [];
  const tools = [shoutTool, noting, createHangingTool(() => aborted.shift()?.())];
  server = await startTestServer({ tools }, async () => ({ ok: true, caller: alice }));
  session = await newSession(TEST_TOKEN);
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  await server.close();
});

const ordinary = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

async function newSession(bearer: string): Promise<string> {
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const response = await fetch(server.url, {
    method: "POST",
    headers: { ...ordinary, authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

const call = (id: number, name: string, text = "") =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: { text } },
  });

/** The bytes of a request; a header that is `undefined` is omitted. */
function bytesOf(body: string, other: Record<string, string | undefined> = {}): string {
  const headers = {
    host: server.url.host,
    authorization: `Bearer ${TEST_TOKEN}`,
    ...ordinary,
    "mcp-session-id": session,
    "content-length": String(Buffer.byteLength(body)),
    ...other,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** A raw connection and everything that it has received so far. */
async function dial() {
  const socket = connect(Number(server.url.port), "127.0.0.1");
  open.push(socket);
  await once(socket, "connect");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", () => {});
  return {
    socket,
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)),
    answers: () => [...text.matchAll(/"id":(\d+),"result".*?"text":"(\w*)"/g)].map((hit) => hit[2]),
  };
}

async function stillServes(): Promise<void> {
  const line = await dial();
  line.socket.write(bytesOf(call(1, "note", "after")));
  await expect.poll(line.answers).toEqual(["after"]);
}

describe("a request of ambiguous length", () => {
  test.each<[string, Record<string, string | undefined>, number]>([
    ["two lengths", { "Content-Length": "5" }, 400],
    ["a length and chunks", { "transfer-encoding": "chunked" }, 400],
    ["a malformed length", { "content-length": "+9" }, 400],
    ["a length below 0", { "content-length": "-1" }, 400],
    ["a length in hex", { "content-length": "0x20" }, 400],
    ["headers above the limit", { "x-more": "x".repeat(40_000) }, 431],
  ])("a request with %s reaches no tool", async (_, other, status) => {
    const line = await dial();
    line.socket.write(bytesOf(call(1, "note", "smuggled"), other));
    await once(line.socket, "close");
    expect(line.statuses()).toEqual([status]);
    expect(ran).toEqual([]);
    await stillServes();
  });

  test("bytes beyond the declared length of a body are not a second request", async () => {
    const hidden = bytesOf(call(2, "note", "hidden"));
    const outer = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { hidden } });
    const line = await dial();
    line.socket.write(bytesOf(outer));
    await expect.poll(line.statuses).toEqual([200]);
    line.socket.write(bytesOf(`${call(3, "shout")}garbage`, { "content-length": "10" }));
    await once(line.socket, "close");
    expect(line.statuses()).toEqual([200, 400]);
    expect(ran).toEqual([]);
    await stillServes();
  });

  test("an incomplete body reaches no tool, even if its client disconnects", async () => {
    const body = call(1, "note", "short");
    const length = { "content-length": String(body.length + 10) };
    const ended = await dial();
    ended.socket.end(bytesOf(body, length));
    await once(ended.socket, "close");
    const gone = await dial();
    gone.socket.write(bytesOf(body, length));
    gone.socket.destroy();
    await stillServes();
    expect(ran).toEqual(["owner after"]);
  });

  test("a body sent byte by byte delays no other request and is one call", async () => {
    const slow = await dial();
    const bytes = bytesOf(call(1, "note", "slow"));
    for (const byte of bytes.slice(0, -2)) slow.socket.write(byte);
    await stillServes();
    slow.socket.write(bytes.slice(-2));
    await expect.poll(slow.answers).toEqual(["slow"]);
    expect(ran).toEqual(["owner after", "owner slow"]);
  });
});

describe("many calls on one connection", () => {
  test("pipelined calls are answered in order, each for its own caller", async () => {
    const asAlice = {
      authorization: "Bearer agent:x",
      "mcp-session-id": await newSession("agent:x"),
    };
    const line = await dial();
    const answers = Array.from({ length: 40 }, (_, id) => `n${id}`);
    line.socket.write(
      answers.map((text, id) => bytesOf(call(id, "note", text), id % 2 ? asAlice : {})).join(""),
    );
    await expect.poll(line.answers).toEqual(answers);
    const callers = answers.map((text, id) => `${id % 2 ? "agent" : "owner"} ${text}`);
    expect(ran.toSorted()).toEqual(callers.toSorted());
  });

  test("a pipelined call cannot use the session of the caller before it", async () => {
    const line = await dial();
    const asAlice = { authorization: "Bearer agent:x" };
    line.socket.write(
      bytesOf(call(1, "note", "own")) + bytesOf(call(2, "note", "stolen"), asAlice),
    );
    await expect.poll(line.statuses).toEqual([200, 404]);
    expect(ran).toEqual(["owner own"]);
  });

  test("of two concurrent calls with one id only one runs, and the id is free afterwards", async () => {
    const lines = await Promise.all([dial(), dial(), dial(), dial()]);
    const abort = new Promise<void>((resolve) => aborted.push(resolve));
    for (const line of lines) line.socket.write(bytesOf(call(7, "hanging")));
    const refused = () => lines.flatMap((line) => line.statuses());
    await expect.poll(refused).toEqual([400, 400, 400]);
    const params = { requestId: 7 };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    (await dial()).socket.write(bytesOf(JSON.stringify(cancel)));
    await abort;
    await expect.poll(() => refused().toSorted((a, b) => a - b)).toEqual([202, 400, 400, 400]);
    await stillServes();
  });
});

test("a session that ends while a body arrives refuses its call", async () => {
  const slow = await dial();
  const bytes = bytesOf(call(1, "note", "late"));
  slow.socket.write(bytes.slice(0, -5));
  await stillServes();
  await fetch(server.url, {
    method: "DELETE",
    headers: { ...ordinary, authorization: `Bearer ${TEST_TOKEN}`, "mcp-session-id": session },
  });
  slow.socket.write(bytes.slice(-5));
  await expect.poll(slow.statuses).toEqual([404]);
  expect(ran).toEqual(["owner after"]);
});

test("the call of a client that disconnects continues, and its id is free afterwards", async () => {
  const abort = new Promise<void>((resolve) => aborted.push(resolve));
  const line = await dial();
  line.socket.write(bytesOf(call(9, "hanging")));
  const again = await dial();
  again.socket.write(bytesOf(call(9, "note", "early")));
  await expect.poll(again.statuses).toEqual([400]);
  line.socket.destroy();
  const params = { requestId: 9 };
  again.socket.write(
    bytesOf(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })),
  );
  await abort;
  await expect.poll(again.statuses).toEqual([400, 202]);
  again.socket.write(bytesOf(call(9, "note", "again")));
  await expect.poll(again.answers).toEqual(["again"]);
});

test("a stopping server waits neither for incomplete bodies nor for disconnected clients", async () => {
  const slow = await dial();
  slow.socket.write(bytesOf(call(1, "note", "late")).slice(0, -5));
  const queue = await dial();
  queue.socket.write(bytesOf(call(2, "hanging")) + bytesOf(call(3, "note", "queued")));
  await expect.poll(() => ran).toEqual(["owner queued"]);
  queue.socket.destroy();
  await server.close();
  expect(ran).toEqual(["owner queued"]);
  server = await startTestServer();
});

test("a stopping server answers remaining requests and closes their connections", async () => {
  const [busy, kept] = [await dial(), await dial()];
  busy.socket.write(bytesOf(call(7, "hanging")));
  const begun = bytesOf(call(2, "note", "begun"));
  kept.socket.write(begun.slice(0, -2));
  await stillServes();
  const closed = server.close(60_000);
  kept.socket.write(begun.slice(-2) + bytesOf(call(3, "note", "last")));
  await once(kept.socket, "close");
  expect(kept.answers()).toEqual(["begun", "last"]);
  expect(busy.statuses()).toEqual([]);
  busy.socket.destroy();
  await closed;
  server = await startTestServer();
});
