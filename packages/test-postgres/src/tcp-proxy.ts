import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a PostgreSQL server. */
export interface TcpProxy {
  /** Returns the address of a database through the proxy. */
  toUrl(databaseUrl: string): string;
  /** Sends new connections to another server. */
  pointAt(serverUrl: string): void;
  close(): Promise<void>;
}

/** Starts a proxy; `join` forwards the bytes of each connection between its two sockets. */
export async function startTcpProxy(
  serverUrl: string,
  join: (client: Socket, server: Socket) => void,
): Promise<TcpProxy> {
  let target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    join(client, server);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const own = (proxy.address() as AddressInfo).port;
  return {
    toUrl(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${own}`;
      return url.href;
    },
    pointAt: (newUrl) => void (target = new URL(newUrl)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
