import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { ClientMessage, ServerMessage } from "@agent/wire";
import { countPendingWork } from "./engine/pending-work.ts";
import { submitAcceptedTask, type Delegation } from "./market.ts";
import { WebSocket, type ClientOptions } from "ws";
import { serve } from "../src/serve.ts";
import { waitForCollected } from "./processes/join-processes.ts";
import { processCount, startTestRelay, type TestRelay } from "./test-relay.ts";

type MessageOfType<T extends ServerMessage["type"]> = Extract<ServerMessage, { type: T }>;

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

/** The client's end of a real socket; the relay's messages are queued until the test reads them. */
export interface Device {
  readonly socket: WebSocket;
  /** Reads the next message, which must have this type. */
  next<T extends ServerMessage["type"]>(type: T): Promise<MessageOfType<T>>;
  /** Reads all messages that the relay has sent by the time it is idle. */
  takeRemaining(): Promise<ServerMessage[]>;
  send(message: ClientMessage | string | Buffer): void;
  readonly closed: Promise<SocketClose>;
}

/** A relay on a real port with a manual clock; only the network runs in real time. */
export interface ServedRelay extends TestRelay {
  readonly baseUrl: string;
  /** Connects without sending anything; the caller must authenticate the device. */
  connect(agent: Pick<TestAgent, "agentId">, options?: ClientOptions): Promise<Device>;
  /** Connects with a token, by default a new one of the agent, and reads the `ready` message. */
  connectDevice(agent: TestAgent, token?: string): Promise<Device>;
  /** Moves the clock in steps, so that devices can answer each ping. */
  advance(ms: number): Promise<void>;
  /** Stops as a process does after SIGTERM. */
  stop(graceMs?: number): Promise<void>;
}

/** Connects a device of the worker that claims a new task of the submitter. */
export async function claimNewTask(
  t: ServedRelay,
  by: TestAgent,
  worker: TestAgent,
  body: Record<string, unknown> = {},
): Promise<{ readonly device: Device; readonly task: Delegation }> {
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, by, worker, body);
  await device.next("task_assigned");
  device.send({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  return { device, task };
}

/** The relay pings every 30 s. */
const CLOCK_STEP_MS = 29_000;

export async function serveTestRelay(
  env: Record<string, string> = {},
  seed = 1,
): Promise<ServedRelay> {
  const t = await startTestRelay(env, seed);
  const serving = await serve(
    t.relay,
    { ...t.clock, ...createSeededRandom(2) },
    { host: "127.0.0.1", port: 0 },
  );
  const baseUrl = `http://127.0.0.1:${serving.port}`;
  const open = new Set<WebSocket>();
  let stopping: Promise<void> | undefined;

  const dial: ServedRelay["connect"] = async ({ agentId }, options = {}) => {
    const socket = new WebSocket(socketUrl(baseUrl, agentId), {
      perMessageDeflate: false,
      ...options,
    });
    open.add(socket);
    const device = createDevice(socket);
    await once(socket, "open");
    return device;
  };

  const stop: ServedRelay["stop"] = (graceMs = 1_000) => (stopping ??= serving.stop(graceMs));

  return {
    ...t,
    baseUrl,
    connect: dial,
    async connectDevice(agent, token) {
      const bearer = token ?? (await t.token(agent));
      const device = await dial(agent, { headers: { authorization: `Bearer ${bearer}` } });
      await device.next("ready");
      if (processCount > 1) await settleEventLoop();
      return device;
    },
    async advance(ms) {
      for (let left = ms; left > 0; left -= CLOCK_STEP_MS) {
        await t.clock.advance(Math.min(left, CLOCK_STEP_MS));
        await settleEventLoop();
      }
    },
    stop,
    async close() {
      for (const socket of open) socket.terminate();
      await stop();
    },
  };
}

export function socketUrl(baseUrl: string, agentId: string): string {
  return `${baseUrl.replace(/^http/, "ws")}/ws/v1/agents/${agentId}`;
}

/** Returns the relay's refusal to upgrade a connection. */
export async function requestRefusedUpgrade(
  url: string,
  headers: Record<string, string>,
): Promise<{
  status: number | undefined;
  headers: Record<string, unknown>;
  body: Record<string, unknown>;
}> {
  const socket = new WebSocket(url, { headers });
  socket.on("error", () => {});
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  const body = JSON.parse(await readText(response)) as Record<string, unknown>;
  return { status: response.statusCode, headers: response.headers, body };
}

function createDevice(socket: WebSocket): Device {
  const received: ServerMessage[] = [];
  const waiting: ((message: ServerMessage) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as ServerMessage;
    const next = waiting.shift();
    if (next === undefined) received.push(message);
    else next(message);
  });
  socket.on("error", () => {});
  const closed = new Promise<SocketClose>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });

  return {
    socket,
    closed,
    async next<T extends ServerMessage["type"]>(type: T) {
      const message =
        received.shift() ?? (await new Promise<ServerMessage>((take) => waiting.push(take)));
      if (message.type !== type) {
        throw new Error(`expected ${type}, received ${JSON.stringify(message)}`);
      }
      return message as MessageOfType<T>;
    },
    async takeRemaining() {
      await settleEventLoop();
      return received.splice(0);
    },
    send(message) {
      const isText = typeof message === "string" || Buffer.isBuffer(message);
      socket.send(isText ? message : JSON.stringify(message));
    },
  };
}

/**
 * Runs the event loop until pending work in this process, on its sockets and servers, and notifications between
 * two processes are done.
 */
export async function settleEventLoop(): Promise<void> {
  if (processCount > 1) await waitForCollected();
  for (let quiet = 0; quiet < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 3));
    quiet = countPendingWork() === 0 ? quiet + 1 : 0;
  }
}
