import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import {
  getRequestListener,
  RequestError,
  serve as serveHono,
  type WebSocketServerLike,
} from "@hono/node-server";
import { limits, refuse } from "@agent/wire";
import { WebSocketServer } from "ws";
import { isHostUnclear } from "./http/is-host-unclear.ts";
import { answerMalformedRequests } from "./http/server/malformed-request.ts";
import { createConnectionGuard } from "./http/limits/connection-guard.ts";
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
/** A process whose row or lease is not renewed for 10 s counts as dead. */
const RENEW_INTERVAL_MS = 3_000;

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
  const guard = createConnectionGuard(createListener(fetch, runtime, address.host), runtime);
  const server = serveHono(
    {
      fetch,
      createServer: ((options: ServerOptions) =>
        createServer(options, guard.listener)) as typeof createServer,
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
  // Begins before the jobs, because the check of the books waits for it.
  relay.checkStorage();
  const { keepUp } = relay;
  const following = keepUp.isShared
    ? [
        startTicker(() => keepUp.run(), TICK_INTERVAL_MS, runtime),
        startTicker(() => keepUp.renew(), RENEW_INTERVAL_MS, runtime),
      ]
    : [];
  const ticking = startTicker(() => relay.tick(), TICK_INTERVAL_MS, runtime);
  const { transparencyLog } = relay;
  // The jobs sign the heads of a log with a longer interval.
  const signing =
    transparencyLog.isOn && transparencyLog.intervalMs < TICK_INTERVAL_MS
      ? startTicker(() => transparencyLog.integrate(), transparencyLog.intervalMs, runtime)
      : undefined;
  await ticking.waitForRound();

  return {
    host: address.host,
    port,
    async stop(graceMs) {
      ticking.stop();
      signing?.stop();
      const released = relay.drain();
      const resigned = Promise.all([ticking.waitForRound(), signing?.waitForRound()]).then(() =>
        keepUp.resign(),
      );
      await close(graceMs, released);
      for (const ticker of following) ticker.stop();
      guard.stop();
      await Promise.all([resigned, ...following.map((ticker) => ticker.waitForRound())]);
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
    void (isHostUnclear(incoming) ? refusingListener : listener)(incoming, outgoing);
}

interface Ticker {
  /** Resolves when the running round has ended. */
  waitForRound(): Promise<void>;
  stop(): void;
}

/** Runs a round at once and again each interval after it has ended. */
function startTicker(
  run: () => Promise<void>,
  intervalMs: number,
  { schedule }: Pick<Runtime, "schedule">,
): Ticker {
  let round = Promise.resolve();
  let ended = false;
  let cancel = () => {};
  const tick = async () => {
    await run();
    if (!ended) cancel = schedule(intervalMs, startRound);
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
