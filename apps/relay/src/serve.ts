import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { serve as serveHono, type WebSocketServerLike } from "@hono/node-server";
import { limits } from "@agent/wire";
import { WebSocketServer } from "ws";
import { brokenRequestAnswer } from "./http/broken-request.ts";
import type { OpenRelay } from "./open-relay.ts";
import { newId, type Runtime } from "./runtime.ts";

export interface Serving {
  readonly host: string;
  readonly port: number;
  /** Stops taking requests, lets the running ones finish for up to `graceMs`, then closes. */
  stop(graceMs: number): Promise<void>;
}

/** How long a client may take; Node looks at its connections every `connectionsCheckingInterval`. */
export type Patience = Required<
  Pick<
    ServerOptions,
    "headersTimeout" | "requestTimeout" | "keepAliveTimeout" | "connectionsCheckingInterval"
  >
>;

const patience: Patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
};

const tickMs = 1_000;
const closeIdleMs = 50;

/** Listens for HTTP and WebSocket, and runs the background jobs. */
export async function serve(
  relay: OpenRelay,
  runtime: Runtime,
  address: { readonly host: string; readonly port: number },
  serverOptions: Patience = patience,
): Promise<Serving> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketFrameBytes });
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const server = serveHono(
    {
      fetch: relay.fetch,
      createServer,
      hostname: address.host,
      port: address.port,
      serverOptions,
      websocket: { server: sockets as unknown as WebSocketServerLike },
    },
    resolve,
  ) as Server;
  server.once("error", reject);
  answerBrokenRequests(server, runtime);
  const { port } = await promise;
  const ticking = startTicking(relay, runtime);
  await ticking.round();

  return {
    host: address.host,
    port,
    async stop(graceMs) {
      ticking.end();
      relay.drain();
      const closed = new Promise((done) => server.close(done));
      // A connection that is kept alive would otherwise keep the server from closing.
      server.prependListener("request", (_: IncomingMessage, answer: ServerResponse) => {
        answer.shouldKeepAlive = false;
      });
      const cancelClosing = every(runtime, closeIdleMs, () => server.closeIdleConnections());
      const cancelGrace = runtime.schedule(graceMs, () => {
        server.closeAllConnections();
        for (const socket of sockets.clients) socket.terminate();
      });
      await closed;
      cancelGrace();
      cancelClosing();
      await ticking.round();
      await relay.close();
    },
  };
}

/** What is no HTTP, or comes too slowly, is answered like any other refusal. */
function answerBrokenRequests(server: Server, runtime: Runtime): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", (request, answer) => void answers.set(request.socket, answer));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = answers.get(socket);
    const isAnswering = answer !== undefined && answer.headersSent && !answer.writableFinished;
    // Nothing may be written into an answer that has begun.
    if (socket.writable && !isAnswering) {
      socket.write(brokenRequestAnswer(error, newId(runtime)));
    }
    socket.destroy(error);
  });
}

interface Ticking {
  /** Resolves when the round that runs now is over. */
  round(): Promise<void>;
  end(): void;
}

/** Runs the background jobs, a round a second. */
function startTicking(relay: OpenRelay, { schedule }: Pick<Runtime, "schedule">): Ticking {
  let round = Promise.resolve();
  let ended = false;
  let cancel = () => {};
  const tick = async () => {
    await relay.tick();
    if (!ended) cancel = schedule(tickMs, begin);
  };
  const begin = () => {
    round = tick();
  };
  begin();
  return {
    round: () => round,
    end() {
      ended = true;
      cancel();
    },
  };
}

/** Calls `task` again and again until the answer is called. */
function every({ schedule }: Pick<Runtime, "schedule">, ms: number, task: () => void): () => void {
  let cancel = () => {};
  const again = () => {
    task();
    cancel = schedule(ms, again);
  };
  again();
  return () => cancel();
}
