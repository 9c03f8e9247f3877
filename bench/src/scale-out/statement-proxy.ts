import { pipeline } from "node:stream";
import { startTcpProxy, type TcpProxy } from "@agent/test-postgres";

/** A proxy in front of a PostgreSQL server that counts the statements sent to it. */
export interface StatementProxy extends TcpProxy {
  countStatements(): number;
}

/** The messages that execute a statement: Query and Execute. */
const RUNNING = new Set(["Q".charCodeAt(0), "E".charCodeAt(0)]);
const LENGTH_BYTES = 4;

export async function startStatementProxy(serverUrl: string): Promise<StatementProxy> {
  let statements = 0;
  const proxy = await startTcpProxy(serverUrl, (client, server) => {
    pipeline(client, server, client, () => {});
    const count = createCounter();
    client.on("data", (bytes: Buffer) => (statements += count(bytes)));
  });
  return { ...proxy, countStatements: () => statements };
}

/** Returns a function that counts the statements in successive bytes of one connection. */
function createCounter(): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  // The first message of a connection has no type byte.
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
