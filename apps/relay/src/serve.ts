import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { serve as serveHono, type WebSocketServerLike } from "@hono/node-server";
import { limits } from "@agent/wire";
import { WebSocketServer } from "ws";
import { answerBrokenRequests } from "./http/broken-request.ts";
import { prepareClosing } from "./http/closing.ts";
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
  const server = serveHono(
    {
      fetch: answeringUpgrades(relay.fetch),
      createServer,
      hostname: address.host,
      port: address.port,
      serverOptions: { ...serverOptions, shouldUpgradeCallback: isWebSocketUpgrade },
      websocket: { server: sockets as unknown as WebSocketServerLike },
    },
    resolve,
  ) as Server;
  server.once("error", reject);
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
