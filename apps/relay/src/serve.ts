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
import { answerMalformedRequests } from "./http/server/malformed-request.ts";
import { createGracefulClose } from "./http/server/graceful-close.ts";
import { createRefusalResponse } from "./http/server/refusal-response.ts";
import { withUpgradeAnswers, isWebSocketUpgrade } from "./http/server/upgrade-answer.ts";
import type { OpenRelay } from "./open-relay.ts";
import { newId, type Runtime } from "./runtime.ts";

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting requests, lets running ones finish within `graceMs` and closes. */
  stop(graceMs: number): Promise<void>;
}

/** The time limits of a client, which are checked at the checking interval. */
export type ServerTimeouts = Required<
  Pick<
    ServerOptions,
    "headersTimeout" | "requestTimeout" | "keepAliveTimeout" | "connectionsCheckingInterval"
  >
>;

export const SERVER_TIMEOUTS: ServerTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
};

const TICK_INTERVAL_MS = 1_000;

/** Listens for HTTP and WebSocket and runs the background jobs. */
export async function serve(
  relay: OpenRelay,
  runtime: Runtime,
  address: { readonly host: string; readonly port: number },
  serverOptions: ServerTimeouts = SERVER_TIMEOUTS,
): Promise<RunningServer> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketFrameBytes });
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const fetch = withUpgradeAnswers(relay.fetch);
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
  // An unknown value of Expect does not refuse a request.
  server.on("checkExpectation", (...exchange) => server.emit("request", ...exchange));
  answerMalformedRequests(server, () => newId(runtime));
  const close = createGracefulClose(server, sockets, runtime);
  const { port } = await promise;
  const ticking = startJobTicker(relay, runtime);
  await ticking.waitForRound();

  return {
    host: address.host,
    port,
    async stop(graceMs) {
      ticking.stop();
      relay.drain();
      await close(graceMs);
      await ticking.waitForRound();
      await relay.close();
    },
  };
}

/**
 * Wraps the adapter's listener so that a request with an invalid address or Host gets the error body
 * of every other refusal. The adapter and Node would answer without a body.
 */
function createListener(
  fetch: Parameters<typeof getRequestListener>[0],
  runtime: Runtime,
  hostname: string,
): RequestListener {
  const answerMalformedAddress = () =>
    createRefusalResponse(
      refuse("request.invalid", "address or Host is malformed"),
      newId(runtime),
    );
  const listener = getRequestListener(fetch, {
    hostname,
    errorHandler: (error) =>
      error instanceof RequestError
        ? answerMalformedAddress()
        : createRefusalResponse(refuse("server.failed"), newId(runtime)),
  });
  const refusingListener = getRequestListener(answerMalformedAddress, { hostname });
  return (incoming, outgoing) =>
    void (isHostMissing(incoming) ? refusingListener : listener)(incoming, outgoing);
}

/** HTTP/1.0 has no Host header. */
function isHostMissing({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== "1.0";
}

interface JobTicker {
  /** Resolves when the running round has ended. */
  waitForRound(): Promise<void>;
  stop(): void;
}

/** Runs a round of the background jobs each second. */
function startJobTicker(relay: OpenRelay, { schedule }: Pick<Runtime, "schedule">): JobTicker {
  let round = Promise.resolve();
  let ended = false;
  let cancel = () => {};
  const tick = async () => {
    await relay.tick();
    if (!ended) cancel = schedule(TICK_INTERVAL_MS, startRound);
  };
  const startRound = () => {
    round = tick();
  };
  startRound();
  return {
    waitForRound: () => round,
    stop() {
      ended = true;
      cancel();
    },
  };
}
