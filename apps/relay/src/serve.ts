import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from "node:http";
import type { AddressInfo } from "node:net";
import {
  getRequestListener,
  RequestError,
  serve as serveHono,
  type WebSocketServerLike,
} from "@hono/node-server";
import { limits, refuse } from "@agent/wire";
import { WebSocketServer } from "ws";
import { answerBrokenRequests } from "./http/broken-request.ts";
import { prepareClosing } from "./http/closing.ts";
import { refusalResponse } from "./http/refusal-response.ts";
import { answeringUpgrades, isWebSocketUpgrade } from "./http/refused-upgrade.ts";
import type { OpenRelay } from "./open-relay.ts";
import { newId, type Runtime } from "./runtime.ts";

export interface Serving {
  readonly host: string;
  readonly port: number;
  /** Stops taking requests, lets the running ones finish for up to `graceMs`, then closes. */
  stop(graceMs: number): Promise<void>;
}

/** How long a client may take; who takes longer is found out at the checking interval. */
export type Patience = Required<
  Pick<
    ServerOptions,
    "headersTimeout" | "requestTimeout" | "keepAliveTimeout" | "connectionsCheckingInterval"
  >
>;

export const patience: Patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
};

const tickMs = 1_000;

/** Listens for HTTP and WebSocket, and runs the background jobs. */
export async function serve(
  relay: OpenRelay,
  runtime: Runtime,
  address: { readonly host: string; readonly port: number },
  serverOptions: Patience = patience,
): Promise<Serving> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketFrameBytes });
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const fetch = answeringUpgrades(relay.fetch);
  const listener = createListener(fetch, runtime, address.host);
  const server = serveHono(
    {
      fetch,
      createServer: ((options: ServerOptions) =>
        createServer(options, listener)) as typeof createServer,
      hostname: address.host,
      port: address.port,
      serverOptions: {
        ...serverOptions,
        requireHostHeader: false,
        shouldUpgradeCallback: isWebSocketUpgrade,
      },
      websocket: { server: sockets as unknown as WebSocketServerLike },
    },
    resolve,
  ) as Server;
  server.once("error", reject);
  // What somebody expects beyond `100-continue` is no reason to refuse.
  server.on("checkExpectation", (...exchange) => server.emit("request", ...exchange));
  answerBrokenRequests(server, () => newId(runtime));
  const close = prepareClosing(server, sockets, runtime);
  const { port } = await promise;
  const ticking = startTicking(relay, runtime);
  await ticking.round();

  return {
    host: address.host,
    port,
    async stop(graceMs) {
      ticking.end();
      relay.drain();
      await close(graceMs);
      await ticking.round();
      await relay.close();
    },
  };
}

/**
 * The adapter's listener, and an answer with the body of every other refusal to requests whose
 * address or Host is none: the adapter and Node would answer those without one.
 */
function createListener(
  fetch: Parameters<typeof getRequestListener>[0],
  runtime: Runtime,
  hostname: string,
): RequestListener {
  const unaddressed = () =>
    refusalResponse(refuse("request.invalid", "address or Host is malformed"), newId(runtime));
  const listener = getRequestListener(fetch, {
    hostname,
    errorHandler: (error) =>
      error instanceof RequestError
        ? unaddressed()
        : refusalResponse(refuse("server.failed"), newId(runtime)),
  });
  const refusing = getRequestListener(unaddressed, { hostname });
  return (incoming, outgoing) =>
    void (lacksHost(incoming) ? refusing : listener)(incoming, outgoing);
}

/** HTTP/1.0 knows no Host yet. */
function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== "1.0";
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
