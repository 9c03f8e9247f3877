import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a Postgres server that can lose the answers to a COMMIT. */
export interface CommitProxy {
  /** Returns the address of a database through the proxy. */
  toUrl(databaseUrl: string): string;
  /** Ends each connection that sends a COMMIT from now on, once the server has answered it. */
  loseCommits(lose: boolean): void;
  /** Ends each connection that sends a COMMIT before the server gets it. */
  cutBeforeCommit(cut: boolean): void;
  countLost(): number;
  close(): Promise<void>;
}

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let losing = false;
  let cutting = false;
  let lost = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let isCommitting = false;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (bytes) => {
      const isCommit = bytes.includes("COMMIT\0");
      if (isCommit && cutting) return end();
      isCommitting ||= isCommit && losing;
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (!isCommitting) return void client.write(bytes);
      lost += 1;
      end();
    });
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
    loseCommits: (lose) => void (losing = lose),
    cutBeforeCommit: (cut) => void (cutting = cut),
    countLost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
