import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server of a test. */
export interface LoopbackServer {
  readonly url: string;
  /** Also ends open connections, which a server would otherwise wait for. */
  readonly close: () => Promise<void>;
}

/** Starts an HTTP server on 127.0.0.1, by default on a port that is free. */
export async function startLoopbackServer(
  answer: RequestListener,
  port = 0,
): Promise<LoopbackServer> {
  const server = createServer(answer);
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
