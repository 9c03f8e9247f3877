import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { pipeline } from "node:stream";

/** A load balancer that forwards each connection to the next process that accepts it. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** `listUrls` is called for each connection; processes that refuse it are skipped. */
export async function startBalancer(listUrls: () => readonly string[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;

  function forward(client: Socket, left: number): void {
    const urls = listUrls();
    const url = urls[turn++ % urls.length];
    if (url === undefined || left === 0) return void client.destroy();
    const { hostname, port } = new URL(url);
    const server = connect(Number(port), hostname);
    server.once("error", () => forward(client, left - 1));
    server.once("connect", () => {
      server.removeAllListeners("error");
      for (const socket of [client, server]) {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket));
      }
      pipeline(client, server, client, () => {});
    });
  }

  const balancer = createServer((client) => forward(client, 3));
  balancer.listen(0, "127.0.0.1");
  await once(balancer, "listening");
  const { port } = balancer.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => balancer.close(resolve));
    },
  };
}
