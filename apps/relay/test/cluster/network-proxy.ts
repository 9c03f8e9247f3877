import type { Socket } from "node:net";
import { startTcpProxy, type TcpProxy } from "@agent/test-postgres";

type Direction = "toServer" | "toClient";

/** A proxy in front of a Postgres server that simulates a faulty network. */
export interface NetworkProxy extends TcpProxy {
  /** From now on, delays all bytes by `ms`. */
  delay(ms: number): void;
  /** Closes all connections; while `isCut` is set, new ones are closed as well. */
  cut(isCut: boolean): void;
  /** From now on, drops no connection but passes no bytes in these directions; neither end is notified. */
  silence(...directions: readonly Direction[]): void;
  /** Passes bytes again, including those that were kept back. */
  restore(): void;
  /** Passes the bytes of new connections only; the silent connections remain silent forever. */
  abandonConnections(): void;
}

/** One direction of a connection. */
interface Way {
  readonly direction: Direction;
  readonly to: Socket;
  /** The delayed bytes, in order. */
  readonly delayed: Buffer[];
  /** The bytes that were held back while the network was silent. */
  readonly kept: Buffer[];
  hasEnded: boolean;
  isAbandoned: boolean;
}

export async function startNetworkProxy(serverUrl: string): Promise<NetworkProxy> {
  const ways = new Set<Way>();
  let silent: ReadonlySet<Direction> = new Set();
  let delayMs = 0;
  let isCut = false;

  function pass(way: Way, bytes: Buffer): void {
    const { delayed, to } = way;
    if (delayMs === 0 && delayed.length === 0) return void to.write(bytes);
    delayed.push(bytes);
    // Each timer passes the oldest bytes, because two timers may end in any order.
    setTimeout(() => to.write(delayed.shift() ?? ""), delayMs);
  }

  function end(way: Way): void {
    ways.delete(way);
    if (way.delayed.length === 0) way.to.end();
    else setTimeout(() => way.to.end(), delayMs);
  }

  function join(from: Socket, to: Socket, direction: Direction): void {
    const state = { delayed: [], kept: [], hasEnded: false, isAbandoned: false };
    const way: Way = { direction, to, ...state };
    const isSilent = () => way.isAbandoned || silent.has(direction);
    ways.add(way);
    from.on("data", (bytes: Buffer) => {
      if (isSilent()) way.kept.push(bytes);
      else pass(way, bytes);
    });
    from.on("error", () => {});
    from.on("close", () => {
      way.hasEnded = true;
      if (!isSilent()) end(way);
    });
  }

  const proxy = await startTcpProxy(serverUrl, (client, server) => {
    join(client, server, "toServer");
    join(server, client, "toClient");
    if (isCut) for (const socket of [client, server]) socket.destroy();
  });
  return {
    ...proxy,
    delay: (ms) => void (delayMs = ms),
    cut(value) {
      isCut = value;
      if (isCut) for (const { to } of ways) to.destroy();
    },
    silence: (...directions) => void (silent = new Set(directions)),
    restore() {
      silent = new Set();
      for (const way of ways) {
        for (const bytes of way.kept.splice(0)) pass(way, bytes);
        if (way.hasEnded) end(way);
      }
    },
    abandonConnections() {
      silent = new Set();
      for (const way of ways) way.isAbandoned = true;
    },
  };
}
