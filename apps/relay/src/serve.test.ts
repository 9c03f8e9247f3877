import { gzipSync } from "node:zlib";
import { connect } from "node:net";
import { createSeededRandom } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { settleEventLoop } from "../test/devices.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../test/test-relay.ts";
import { SERVER_TIMEOUTS, serve, type RunningServer } from "./serve.ts";

/** The slow clients of these tests are as slow as real ones, but the relay waits less long. */
const impatient = {
  headersTimeout: 200,
  requestTimeout: 400,
  keepAliveTimeout: 100,
  connectionsCheckingInterval: 20,
};
/** A relay on a busy machine must not take a fast client for a slow one. */
const patient = { ...SERVER_TIMEOUTS, keepAliveTimeout: 100, connectionsCheckingInterval: 20 };
/** The shortest of the default timeouts, so a connection that ends earlier was ended by those of the test. */
const longest = 10_000;

let t: TestRelay;
let serving: RunningServer;

/** Serves a relay for each test of a group. */
function serveForEach(timeouts: typeof SERVER_TIMEOUTS): void {
  beforeEach(async () => {
    t = await startTestRelay();
    const runtime = { ...t.clock, ...createSeededRandom(2) };
    serving = await serve(t.relay, runtime, { host: "127.0.0.1", port: 0 }, timeouts);
  });
  afterEach(async () => {
    await serving.stop(0);
    const failed = t.listLogged("request.failed");
    if (failed.length > 0) throw new Error(JSON.stringify(failed));
  });
}

interface Said {
  /** Returns all that the relay sent until it closed the connection. */
  readonly answer: string;
  readonly ms: number;
}

/** Sends each piece `everyMs` after the last, and never hangs up by itself. */
function say(pieces: Iterable<string | Buffer>, everyMs = 0): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const began = performance.now();
  let answer = "";
  const socket = connect(serving.port, "127.0.0.1");
  socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
  socket.on("error", () => {});
  const left = pieces[Symbol.iterator]();
  const timer = setInterval(() => {
    const next = left.next();
    if (next.done === true) clearInterval(timer);
    else socket.write(next.value);
  }, everyMs);
  socket.once("close", () => {
    clearInterval(timer);
    resolve({ answer, ms: performance.now() - began });
  });
  return promise;
}

const post = (
  headers: readonly string[],
  path = "/agent/0199a000-0000-7000-8000-000000000000/task",
) =>
  [
    `POST ${path} HTTP/1.1`,
    "Host: relay",
    `Authorization: Bearer ${OPERATOR_TOKEN}`,
    "Content-Type: application/json",
    ...headers,
    "",
    "",
  ].join("\r\n");

/** The header of a client that expects nothing after the answer, so that the relay need not wait for more. */
const last = "Connection: close";

const spaces = Array.from({ length: 500 }, () => " ");

const statusesIn = ({ answer }: Said) =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

/** The JSON body of the last answer. */
const bodyIn = ({ answer }: Said) =>
  JSON.parse(answer.slice(answer.lastIndexOf("\r\n\r\n") + 4)) as Record<string, unknown>;

const task = '{"prompt": "work"}';

test("clients have 10 s for headers, 30 s for a request and 60 s between requests, checked every second", () => {
  expect(SERVER_TIMEOUTS).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    connectionsCheckingInterval: 1_000,
  });
});

describe("a slow client", () => {
  serveForEach(impatient);

  const slow: [who: string, pieces: () => Iterable<string>, everyMs: number][] = [
    ["that says nothing", () => [], 0],
    ["that sends its headers a byte at a time", () => post(["X-Long: 1".repeat(100)]), 10],
    ["whose headers never end", () => ["GET /health HTTP/1.1\r\nHost: relay\r\n"], 0],
    ["that sends its body a byte at a time", () => [post(["Content-Length: 500"]), ...spaces], 10],
    ["that sends less than it declared", () => [post(["Content-Length: 500"]), task], 0],
    [
      "whose chunks never end",
      () => [post(["Transfer-Encoding: chunked"]), `12\r\n${task}\r\n`],
      0,
    ],
  ];
  test.each(slow)("IN5: a client %s is disconnected with a reason", async (_, pieces, everyMs) => {
    const said = await say(pieces(), everyMs);
    expect(said.ms).toBeLessThan(longest);
    expect(statusesIn(said)).toEqual([408]);
    expect(bodyIn(said)).toMatchObject({ code: "request.timeout", status: 408 });
  });

  test("a client that is idle after its response is closed without a message", async () => {
    const said = await say(["GET /health HTTP/1.1\r\nHost: relay\r\n\r\n"]);
    expect(said.ms).toBeLessThan(longest);
    expect(statusesIn(said)).toEqual([200]);
  });

  test("the relay serves others while 100 slow clients are connected", async () => {
    const crowd = Array.from({ length: 100 }, (_, i) => say(slow[i % slow.length]![1](), 20));
    const waits: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      const began = performance.now();
      const answer = await fetch(`http://127.0.0.1:${serving.port}/health/ready`);
      expect(answer.status).toBe(200);
      waits.push(performance.now() - began);
    }
    // The median, because other processes of a busy machine can delay single requests.
    expect(waits.toSorted((one, other) => one - other)[4]).toBeLessThan(1_000);
    const said = await Promise.all(crowd);
    expect(new Set(said.flatMap(statusesIn))).toEqual(new Set([408]));
  });

  test("the relay does not treat a long poll as a slow client", async () => {
    const open = await t.asOperator("POST", "/agent/0199a000-0000-7000-8000-000000000000/task", {
      prompt: "work",
    });
    const path = `/agent/0199a000-0000-7000-8000-000000000000/task/${String(open.body["task_id"])}`;
    const polled = fetch(`http://127.0.0.1:${serving.port}${path}?wait=60`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    await new Promise((later) => setTimeout(later, 2 * impatient.requestTimeout));
    await t.clock.advance(60_000);
    expect((await polled).status).toBe(200);
  });
});

describe("IN6 an unusual request", () => {
  serveForEach(patient);

  test("the relay answers a compressed body with 415", async () => {
    const body = gzipSync(task);
    const headers = ["Content-Encoding: gzip", `Content-Length: ${body.length}`, last];
    const said = await say([Buffer.concat([Buffer.from(post(headers)), body])]);
    expect(statusesIn(said)).toEqual([415]);
  });

  test("the relay answers a body longer than declared with 400 and no effect", async () => {
    const path = "/agent/excess/task";
    const said = await say([post([`Content-Length: ${task.length - 1}`], path) + task]);
    expect(statusesIn(said)).toEqual([400]);
    expect((await t.asOperator("GET", "/agent/excess/tasks")).body).toMatchObject({ tasks: [] });
  });

  test("the relay answers Expect: 100-continue with 100", async () => {
    const headers = ["Expect: 100-continue", `Content-Length: ${task.length}`, last];
    expect(statusesIn(await say([post(headers), task], 50))).toEqual([100, 201]);
  });

  test("the relay accepts a request with an unknown Expect", async () => {
    const headers = ["Expect: more", `Content-Length: ${task.length}`, last];
    expect(statusesIn(await say([post(headers) + task]))).toEqual([201]);
  });

  test("the relay accepts a chunked request", async () => {
    const chunks = task.replaceAll(/./g, (byte) => `1\r\n${byte}\r\n`);
    const said = await say([post(["Transfer-Encoding: chunked", last]), `${chunks}0\r\n\r\n`]);
    expect(statusesIn(said)).toEqual([201]);
  });

  test("the relay answers a chunked request above 1 MiB with 413 before its end", async () => {
    const piece = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const said = await say([post(["Transfer-Encoding: chunked"]), piece.repeat(20)]);
    expect(statusesIn(said)[0]).toBe(413);
  });

  test.each<[what: string, text: string]>([
    ["that is no HTTP", "hello\r\n\r\n"],
    ["of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["with a length that is not a number", post(["Content-Length: many"])],
    ["with two lengths", post(["Content-Length: 5", "Content-Length: 6"])],
    ["with a length and chunks", post(["Content-Length: 5", "Transfer-Encoding: chunked"])],
    ["with a chunk that is none", `${post(["Transfer-Encoding: chunked"])}zz\r\n`],
    ["with a control character in a header", post(["X-Odd: a\x00b"])],
    ["with 100 kB of headers", post([`X-Long: ${"a".repeat(100_000)}`])],
    ["without a Host", "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["whose Host is none", "GET /health HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
    ["for no path", "OPTIONS * HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n"],
  ])("the relay answers %s with 400 as JSON", async (_, text) => {
    const said = await say([text]);
    expect(statusesIn(said)).toEqual([400]);
    expect(bodyIn(said)).toMatchObject({ code: "request.invalid", status: 400 });
    expect(said.answer).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
  });
});

describe("IN9 a client that disconnects", () => {
  serveForEach(patient);

  test("a client that disconnects during its request leaves nothing behind", async () => {
    const socket = connect(serving.port, "127.0.0.1");
    socket.write(post(["Content-Length: 500"]) + task, () => socket.destroy());
    await new Promise((closed) => socket.once("close", closed));
    expect((await fetch(`http://127.0.0.1:${serving.port}/health/ready`)).status).toBe(200);
  });

  test("a client that disconnects during a long poll leaves no timer behind", async () => {
    const open = await t.asOperator("POST", "/agent/0199a000-0000-7000-8000-000000000000/task", {
      prompt: "work",
    });
    const path = `/agent/0199a000-0000-7000-8000-000000000000/task/${String(open.body["task_id"])}`;
    // The first rounds of the jobs set their timers when they have ended.
    await settleEventLoop();
    const before = t.clock.pending();
    const socket = connect(serving.port, "127.0.0.1");
    socket.write(
      `GET ${path}?wait=60 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${OPERATOR_TOKEN}\r\n\r\n`,
    );
    await vi.waitFor(() => expect(t.clock.pending()).toContain(60_000), { interval: 5 });
    socket.destroy();
    await vi.waitFor(() => expect(t.clock.pending()).not.toContain(60_000), { interval: 5 });
    // The check of the connections stops at its next turn. After a multiple of 1 s and of 3 s, the two
    // intervals of a relay on Postgres, the others are again as far from their next turns as before.
    await t.clock.advance(6_000);
    await vi.waitFor(() => expect(t.clock.pending()).toEqual(before), { interval: 5 });
  });
});
