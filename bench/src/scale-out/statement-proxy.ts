import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a PostgreSQL server that counts the statements sent to it. */
export interface StatementProxy {
  /** Returns the address of a database through the proxy. */
  toUrl(databaseUrl: string): string;
  countStatements(): number;
  close(): Promise<void>;
}

/** The messages that run a statement: Query and Execute. */
const RUNNING = new Set(["Q".charCodeAt(0), "E".charCodeAt(0)]);
const LENGTH_BYTES = 4;

export async function startStatementProxy(serverUrl: string): Promise<StatementProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let statements = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
      from.pipe(to);
    }
    const count = createCounter();
    client.on("data", (bytes: Buffer) => (statements += count(bytes)));
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return {
    toUrl(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      return url.href;
    },
    countStatements: () => statements,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** Returns a function that counts the statements in the next bytes of one connection. */
function createCounter(): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  // The first message of a connection has no type.
  let typeBytes = 0;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let count = 0;
    while (rest.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < end) break;
      if (typeBytes === 1 && RUNNING.has(rest[0] ?? 0)) count += 1;
      rest = rest.subarray(end);
      typeBytes = 1;
    }
    return count;
  };
}
