import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { limits, type ServerMessage, type Task } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import { connectSocket, type SocketOptions } from "./realtime.ts";
import type { SocketEnd } from "./decide-reconnection.ts";
import { refusal } from "../calls/refusal.ts";
import type { Bearer } from "../relay-client.ts";
import { startLocalServer } from "../testing/local-server.ts";
import { createManualTime } from "../testing/manual-time.ts";

const AGENT = "019b7d21-53eb-7ccd-926c-3badff397897";
const ready: ServerMessage = { type: "ready", agent_id: AGENT, device_id: "d", pending: 0 };

/** A queue whose next element can be awaited. */
function queue<T>() {
  const items: T[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    put(item: T) {
      const next = waiting.shift();
      if (next === undefined) items.push(item);
      else next(item);
    },
    take: () => {
      const item = items.shift();
      return item === undefined ? new Promise<T>((resolve) => waiting.push(resolve)) : item;
    },
    items,
  };
}

interface Peer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly said: ReturnType<typeof queue<unknown>>;
  readonly sendMessage: (message: object) => void;
}

/** Starts a relay that sends nothing by itself; `peers` yields its connections. */
async function relaySocket(options: { readonly autoPong?: boolean } = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...options });
  await once(server, "listening");
  const peers = queue<Peer>();
  server.on("connection", (socket, request) => {
    const said = queue<unknown>();
    socket.on("message", (data: Buffer) => said.put(JSON.parse(data.toString())));
    peers.put({
      socket,
      request,
      said,
      sendMessage: (message) => socket.send(JSON.stringify(message)),
    });
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peers,
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Event =
  | { readonly message: ServerMessage }
  | { readonly down: SocketEnd & { readonly retryInMs: number } }
  | { readonly refused: SocketEnd };

/** Connects a device with a manual clock; `events` yields the callbacks that it receives. */
function device(baseUrl: string, change: Partial<SocketOptions> = {}) {
  const time = createManualTime(1_760_000_000_000);
  const events = queue<Event>();
  const socket = connectSocket({
    baseUrl,
    agentId: AGENT,
    bearer: () => Promise.resolve({ ok: true, token: "token-1" }),
    onMessage: (message) => events.put({ message }),
    onDisconnect: (down) => events.put({ down }),
    onRefused: (refused) => events.put({ refused }),
    ...time,
    randomBytes: (length) => new Uint8Array(length).fill(0xff),
    ...change,
  });
  return { ...socket, time, events, [Symbol.dispose]: () => socket.close() };
}

/** Lets time pass in which the relay only answers pings. */
async function passQuietly(
  ms: number,
  { mine, peer }: { readonly mine: ReturnType<typeof device>; readonly peer: Peer },
): Promise<void> {
  for (let passed = 0; passed < ms; passed += 15_000) {
    const pinged = once(peer.socket, "ping");
    mine.time.advance(15_000);
    await pinged;
    // This message comes after the answer to the ping, which has arrived then too.
    peer.sendMessage({ type: "pong" });
    await mine.events.take();
  }
}

describe("connectSocket", () => {
  test("connectSocket authenticates by header at its agent's path and receives messages", async () => {
    await using relay = await relaySocket();
    using mine = device(`${relay.baseUrl}/`);
    const { request, sendMessage } = await relay.peers.take();
    expect(request.url).toBe(`/ws/v1/agents/${AGENT}`);
    expect(request.headers.authorization).toBe("Bearer token-1");
    const task: Task = {
      task_id: "t",
      agent_id: AGENT,
      prompt: "p",
      submitted_at: 1,
      status: "pending",
      submitted_by: null,
      assigned_to: AGENT,
      required_capabilities: [],
      expires_at: 2,
      wall_clock_ms: null,
      step_id: null,
      routing_choice: null,
      estimated_cost: 0,
      amount_locked: 0,
    };
    const messages: ServerMessage[] = [
      ready,
      { type: "task_assigned", task, expires_at: 2 },
      { type: "claimed", task_id: "t", lease_until: 3 },
      { type: "result_accepted", task_id: "t", status: "completed" },
      { type: "result_refused", task_id: "t", code: "receipt.span", message: "no" },
      { type: "task_cancelled", task_id: "t" },
      { type: "error", code: "request.invalid", message: "no" },
      { type: "error", code: "task.not_found", message: "no", task_id: "t" },
      { type: "pong" },
      { type: "draining" },
    ];
    for (const message of messages) sendMessage(message);
    for (const message of messages) expect(await mine.events.take()).toEqual({ message });
  });

  test("connectSocket sends its capabilities after each `ready`", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl, { capabilities: ["add"] });
    const first = await relay.peers.take();
    first.sendMessage(ready);
    expect(await first.said.take()).toEqual({ type: "capabilities", capabilities: ["add"] });
    first.socket.close(1_001);
    await mine.events.take();
    expect(await mine.events.take()).toMatchObject({ down: { code: 1_001 } });
    mine.time.advance(500);
    const second = await relay.peers.take();
    second.sendMessage(ready);
    expect(await second.said.take()).toEqual({ type: "capabilities", capabilities: ["add"] });
  });

  test("connectSocket ignores messages outside the contract", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    socket.send("{");
    socket.send(JSON.stringify("ready"));
    socket.send(Buffer.from(JSON.stringify(ready)), { binary: true });
    sendMessage({ type: "moon_rises" });
    sendMessage({ type: "task_assigned", task: {}, expires_at: 1 });
    sendMessage({ type: "pong", extra: 1 });
    expect(await mine.events.take()).toEqual({ message: { type: "pong" } });
    expect(mine.events.items).toEqual([]);
  });

  test("connectSocket requests a token for each connection and sends a new one before it expires", async () => {
    await using relay = await relaySocket();
    let token = "token-1";
    using mine = device(relay.baseUrl, { bearer: () => Promise.resolve({ ok: true, token }) });
    const peer = await relay.peers.take();
    const { said, socket, sendMessage } = peer;
    sendMessage(ready);
    await mine.events.take();
    await passQuietly(30_000, { mine, peer });
    token = "token-2";
    await passQuietly(30_000, { mine, peer });
    expect(await said.take()).toEqual({ type: "auth", token: "token-2" });
    socket.close(1_001);
    await mine.events.take();
    token = "token-3";
    mine.time.advance(500);
    const { request } = await relay.peers.take();
    expect(request.headers.authorization).toBe("Bearer token-3");
  });
});

describe("send of a socket", () => {
  test("`send` is refused before `ready` and accepts every message afterwards", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const { said, sendMessage } = await relay.peers.take();
    expect(mine.send({ type: "ping" })).toEqual({ ok: false, code: "socket.not_ready" });
    sendMessage(ready);
    await mine.events.take();
    expect(mine.send({ type: "claim", task_id: "t" })).toEqual({ ok: true });
    expect(await said.take()).toEqual({ type: "claim", task_id: "t" });
    mine.close();
    expect(mine.send({ type: "ping" })).toEqual({ ok: false, code: "socket.not_ready" });
  });

  test("`send` refuses a message above 1 MiB", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const { said, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    const empty = { type: "progress", task_id: "t", note: "" } as const;
    const room = limits.socketFrameBytes - JSON.stringify(empty).length;
    // Each letter has two bytes; the limit is in bytes.
    const fitting = { ...empty, note: "é".repeat(room / 2) + "x".repeat(room % 2) };
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBe(limits.socketFrameBytes);
    expect(mine.send({ ...fitting, note: `${fitting.note} ` })).toEqual({
      ok: false,
      code: "socket.too_large",
    });
    expect(mine.send(fitting)).toEqual({ ok: true });
    expect(await said.take()).toEqual(fitting);
  });

  test("`send` is refused while 4 MiB wait for a relay that does not read", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    socket.pause();
    const note = "x".repeat(500_000);
    const sent = Array.from({ length: 100 }, () =>
      mine.send({ type: "progress", task_id: "t", note }),
    );
    expect(sent[0]).toEqual({ ok: true });
    expect(sent.at(-1)).toEqual({ ok: false, code: "socket.backlogged" });
  });
});

describe("the reconnection of a socket", () => {
  test("connectSocket reconnects after waits that become longer", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    for (const retryInMs of [499, 999, 1_999]) {
      const { socket } = await relay.peers.take();
      socket.terminate();
      expect(await mine.events.take()).toEqual({ down: { code: 1_006, reason: "", retryInMs } });
      expect(mine.time.pending()).toEqual([retryInMs]);
      mine.time.advance(retryInMs);
    }
    await relay.peers.take();
  });

  test("connectSocket waits for the relay's window after close code 4429", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    socket.close(4_429, "too many messages");
    expect(await mine.events.take()).toEqual({
      down: { code: 4_429, reason: "too many messages", readyForMs: 0, retryInMs: 10_499 },
    });
  });

  test("connectSocket connects again when no server listens", async () => {
    const relay = await relaySocket();
    await relay[Symbol.asyncDispose]();
    using mine = device(relay.baseUrl);
    expect(await mine.events.take()).toMatchObject({ down: { code: 1_006, retryInMs: 499 } });
  });

  test("H27: connectSocket cuts a connection whose other side vanished after 30 s", async () => {
    await using relay = await relaySocket({ autoPong: false });
    using mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    const pinged = once(socket, "ping");
    mine.time.advance(15_000);
    await pinged;
    mine.time.advance(14_999);
    expect(socket.readyState).toBe(socket.OPEN);
    mine.time.advance(1);
    expect(await mine.events.take()).toMatchObject({ down: { code: 1_006, readyForMs: 30_000 } });
  });

  test("H27: connectSocket keeps a quiet connection whose other side answers its pings", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    const peer = await relay.peers.take();
    const { socket, sendMessage } = peer;
    sendMessage(ready);
    await mine.events.take();
    await passQuietly(90_000, { mine, peer });
    expect(socket.readyState).toBe(socket.OPEN);
    expect(mine.events.items).toEqual([]);
  });

  test("connectSocket counts a ping of the relay as activity", async () => {
    await using relay = await relaySocket({ autoPong: false });
    using mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    mine.time.advance(29_999);
    const ponged = once(socket, "pong");
    socket.ping();
    await ponged;
    mine.time.advance(29_999);
    expect(socket.readyState).toBe(socket.OPEN);
    mine.time.advance(1);
    expect(await mine.events.take()).toMatchObject({ down: { code: 1_006, readyForMs: 59_999 } });
  });

  test("connectSocket does not reconnect after its own close and leaves no timer", async () => {
    await using relay = await relaySocket();
    const mine = device(relay.baseUrl);
    const { socket, sendMessage } = await relay.peers.take();
    sendMessage(ready);
    await mine.events.take();
    mine.close();
    await once(socket, "close");
    await expect.poll(() => mine.time.pending()).toEqual([]);
    expect(mine.events.items).toEqual([]);
  });

  test("connectSocket cancels a pending reconnection on close", async () => {
    await using relay = await relaySocket();
    const mine = device(relay.baseUrl);
    (await relay.peers.take()).socket.terminate();
    await mine.events.take();
    mine.close();
    expect(mine.time.pending()).toEqual([]);
  });
});

describe("a refused socket", () => {
  test("connectSocket gives up after close code 4401 three times in a row", async () => {
    await using relay = await relaySocket();
    using mine = device(relay.baseUrl);
    for (const retryInMs of [499, 999]) {
      (await relay.peers.take()).socket.close(4_401, "revoked");
      expect(await mine.events.take()).toMatchObject({ down: { code: 4_401, retryInMs } });
      mine.time.advance(retryInMs);
    }
    (await relay.peers.take()).socket.close(4_401, "revoked");
    expect(await mine.events.take()).toEqual({ refused: { code: 4_401, reason: "revoked" } });
    expect(mine.time.pending()).toEqual([]);
  });

  test("connectSocket gives up after three refused upgrades in a row", async () => {
    await using server = await startLocalServer(() => ({ status: 403, body: {} }));
    using mine = device(server.baseUrl);
    for (const retryInMs of [499, 999]) {
      expect(await mine.events.take()).toMatchObject({ down: { status: 403, retryInMs } });
      mine.time.advance(retryInMs);
    }
    expect(await mine.events.take()).toMatchObject({ refused: { status: 403 } });
  });

  test("connectSocket waits for the time of Retry-After", async () => {
    await using server = await startLocalServer(() => ({
      status: 503,
      headers: { "retry-after": "9" },
      body: {},
    }));
    using mine = device(server.baseUrl);
    expect(await mine.events.take()).toMatchObject({
      down: { status: 503, retryAfterSeconds: 9, retryInMs: 9_499 },
    });
  });

  test("connectSocket retries a refused token and connects when it receives one", async () => {
    await using relay = await relaySocket();
    const unavailable = { ...refusal("server.unavailable", "down", 503), retryAfterSeconds: 2 };
    const bearers: Bearer[] = [unavailable, { ok: true, token: "token-2" }];
    using mine = device(relay.baseUrl, {
      bearer: () => Promise.resolve(bearers.shift() ?? unavailable),
    });
    expect(await mine.events.take()).toMatchObject({ down: { status: 503, retryInMs: 2_499 } });
    mine.time.advance(2_499);
    const { request } = await relay.peers.take();
    expect(request.headers.authorization).toBe("Bearer token-2");
  });
});

test("connectSocket throws for an agent id that is no valid path segment", () => {
  expect(() => device("http://127.0.0.1:1", { agentId: ".." })).toThrow(TypeError);
});
