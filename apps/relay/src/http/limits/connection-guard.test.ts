import { connect, type Socket } from "node:net";
import { createSeededRandom } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settleEventLoop } from "../../../test/devices.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { serve, type RunningServer } from "../../serve.ts";

let t: TestRelay;
let serving: RunningServer;
/** Lists the paths of all requests that the relay has begun to answer. */
let begun: string[];
let open: Socket[];
beforeEach(async () => {
  t = await startTestRelay();
  [begun, open] = [[], []];
  const fetch: typeof t.relay.fetch = (request, env) => {
    begun.push(new URL(request.url).search);
    return t.relay.fetch(request, env);
  };
  const runtime = { ...t.clock, ...createSeededRandom(2) };
  serving = await serve({ ...t.relay, fetch }, runtime, { host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  await serving.stop(0);
});

const get = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${OPERATOR_TOKEN}\r\n\r\n`;

/** Sends requests in one write, without reading any answer. */
function send(...paths: string[]): Socket {
  const socket = connect(serving.port, "127.0.0.1");
  open.push(socket);
  socket.on("error", () => {});
  socket.pause();
  socket.write(paths.map(get).join(""));
  return socket;
}

/** Reads from now on, and returns the numbers in the paths of the first `count` answers. */
async function readNumbers(socket: Socket, count: number): Promise<number[]> {
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  socket.resume();
  const numbers = () => [...text.matchAll(/x-request-id: n(\d+)/g)].map(([, n]) => Number(n));
  while (numbers().length < count) await settleEventLoop();
  return numbers();
}

const numbered = (n: number) =>
  `GET /health?n=${n} HTTP/1.1\r\nHost: relay\r\nX-Request-Id: n${n}\r\n\r\n`;

async function passTime(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await t.clock.advance(5_000);
    await settleEventLoop();
  }
}

test("H2: few of 1,500 requests in one write are answered before the client reads", async () => {
  const silent = send(...Array.from({ length: 1_500 }, (_, n) => `/openapi.json?n=${n}`));
  await new Promise((done) => setTimeout(done, 1_000));
  // Answers of 314 KB each fill the buffers of the connection; then 8 more are being prepared.
  expect(begun.length).toBeGreaterThanOrEqual(8);
  expect(begun.length).toBeLessThan(60);
  // Another client is answered meanwhile, and the connection of the silent one is closed.
  expect(await readNumbers(connectWith(numbered(1)), 1)).toEqual([1]);
  const closed = new Promise((done) => silent.once("close", done));
  await passTime(85_000);
  silent.resume();
  await closed;
  expect(begun.length).toBeLessThan(60);
});

test("H2: at most 8 slow answers are prepared for one client at a time", async () => {
  const target = "01980000-0000-7000-8000-000000000001";
  await t.asOperator("POST", "/api/v1/agents/register", {
    agent_id: target,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["x"],
  });
  const submitted = await t.asOperator("POST", `/agent/${target}/task`, { prompt: "work" });
  expect(submitted.status).toBe(201);
  const path = `/agent/${target}/task/${String(submitted.body["task_id"])}?wait=60&n=`;
  const socket = send(...Array.from({ length: 20 }, (_, n) => `${path}${n}`));
  await settleEventLoop();
  expect(begun).toHaveLength(8);
  await t.clock.advance(60_000);
  await settleEventLoop();
  expect(begun).toHaveLength(16);
  socket.destroy();
});

test("H2: a client that pipelines requests and reads the answers gets all of them in order", async () => {
  const pipelined = Array.from({ length: 1_000 }, (_, n) => numbered(n));
  const socket = connectWith(pipelined.join(""));
  expect(await readNumbers(socket, 1_000)).toEqual(pipelined.map((_, n) => n));
  // The connection works on after its queue was empty.
  socket.write(numbered(1_000));
  while (begun.length < 1_001) await settleEventLoop();
});

test("H2: a client that reads slowly keeps its connection", async () => {
  const socket = send(...Array.from({ length: 40 }, (_, n) => `/openapi.json?n=${n}`));
  let [received, isClosed] = [0, false];
  socket.once("close", () => (isClosed = true));
  await settleEventLoop();
  for (let passed = 0; passed < 200_000; passed += 5_000) {
    // A client that reads a part of an answer now and then makes progress.
    for (let pieces = 0; pieces < 4; pieces += 1) {
      received += ((socket.read() as Buffer | null) ?? "").length;
      await settleEventLoop();
    }
    await t.clock.advance(5_000);
  }
  expect([isClosed, received > 1_000_000]).toEqual([false, true]);
});

test("H2: an idle connection and a waiting poll are not closed", async () => {
  const idle = connectWith(numbered(1));
  await readNumbers(idle, 1);
  await passTime(100_000);
  idle.write(numbered(2));
  while (begun.length < 2) await settleEventLoop();
  expect(idle.destroyed).toBe(false);
});

function connectWith(text: string): Socket {
  const socket = connect(serving.port, "127.0.0.1");
  open.push(socket);
  socket.on("error", () => {});
  socket.write(text);
  return socket;
}
