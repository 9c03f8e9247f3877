import { connect, type Socket } from "node:net";
import {
  createToken,
  startLoopbackServer,
  type LoopbackServer,
  type TestAgent,
} from "@agent/testkit";
import { createHttpClient } from "./load.ts";
import { createTokenCache, enrollAgent, MASTER_TOKEN, benchWorld } from "./relay-side.ts";

/** An agent without money at a started relay, with the methods by which it misbehaves. */
export interface BadNeighbour {
  readonly agent: TestAgent;
  readonly token: () => Promise<string>;
  /** Submits a task to itself, claims it and fills its notes; returns the task's path. */
  readonly createNotedTask: () => Promise<string>;
  readonly get: (path: string) => Promise<string>;
  readonly post: (path: string, body: object) => Promise<string>;
  /** Sends requests on a separate connection, in one write, and never reads the answers. */
  readonly sendWithoutReading: (path: string, count: number) => Promise<Socket>;
  close(): Promise<void>;
}

const NOTE = "\u0001".repeat(4_096);
/** As many as fit into the notes of one task, and a few more, which are dropped. */
const NOTE_COUNT = 20;

export async function createBadNeighbour(url: string): Promise<BadNeighbour> {
  const client = createHttpClient(url);
  const info = (await (await fetch(`${url}/.well-known/agent-relay.json`)).json()) as {
    did: string;
  };
  const agent = await enrollAgent(client.post);
  const getToken = createTokenCache(() => createToken(agent, info.did, benchWorld));
  const post: BadNeighbour["post"] = async (path, body) =>
    client.post(path, JSON.stringify(body), await getToken());
  const sockets = new Set<Socket>();
  return {
    agent,
    token: getToken,
    post,
    get: async (path) => client.get(path, await getToken()),
    async createNotedTask() {
      const answer = await post(`/agent/${agent.agentId}/task`, { prompt: "nothing" });
      const { task_id } = JSON.parse(answer) as { task_id: string };
      const path = `/agent/${agent.agentId}/task/${task_id}`;
      await post(`${path}/claim`, {});
      for (let sent = 0; sent < NOTE_COUNT; sent += 1) {
        await post(`${path}/progress`, { note: NOTE });
      }
      return path;
    },
    async sendWithoutReading(path, count) {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname).pause();
      // The relay closes it at some point, which is what the benchmark measures.
      socket.on("error", () => {});
      sockets.add(socket);
      const head = `GET ${path} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${await getToken()}\r\n\r\n`;
      socket.write(head.repeat(count));
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await client.close();
    },
  };
}

/** A receiver of webhooks, which answers only on paths that begin with `/honest`. */
export interface Receiver extends LoopbackServer {
  /** Resolves when the task's webhook arrives at a path that begins with `/honest`. */
  waitFor(taskId: string): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<string, () => void>();
  const arrived = new Set<string>();
  const server = await startLoopbackServer((request, response) => {
    if (request.url?.startsWith("/honest") !== true) return;
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      response.writeHead(204).end();
      const { data } = JSON.parse(body) as { data: { task_id: string } };
      arrived.add(data.task_id);
      waiting.get(data.task_id)?.();
    });
  });
  return {
    ...server,
    waitFor: (taskId) =>
      new Promise((done) => {
        if (arrived.has(taskId)) done();
        else waiting.set(taskId, done);
      }),
  };
}

/** Subscribes an agent to its incoming tasks; the operator may do so for any agent. */
export async function subscribeAgent(url: string, agentId: string, to: string): Promise<void> {
  const client = createHttpClient(url);
  const body = JSON.stringify({ url: to, events: ["task.assigned"] });
  await client.post(`/api/v1/agents/${agentId}/webhooks`, body, MASTER_TOKEN);
  await client.close();
}
