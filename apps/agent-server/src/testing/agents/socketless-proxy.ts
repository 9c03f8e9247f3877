import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export interface SocketlessProxy {
  readonly url: string;
  readonly close: () => void;
}

/** `closed` aborts when the client waits for the answer no longer. */
type Delay = (path: string, closed: AbortSignal) => Promise<void> | undefined;

const noDelay: Delay = () => undefined;

/**
 * Starts a proxy for a relay's requests but not its sockets, so that tasks arrive over MCP. A request is
 * sent on after `delay`, and its answer after `delayAnswer`; they may never resolve.
 */
export async function startSocketlessProxy(
  getRelayUrl: () => string,
  delay = noDelay,
  delayAnswer = noDelay,
): Promise<SocketlessProxy> {
  const proxy = createServer((request, response) => {
    const closing = new AbortController();
    response.once("close", () => closing.abort());
    void text(request).then(async (body) => {
      const { method = "GET", url = "/", headers } = request;
      const { authorization, "content-type": type } = headers;
      await delay(url, closing.signal);
      const answer = await fetch(`${getRelayUrl()}${url}`, {
        method,
        headers: {
          ...(authorization !== undefined && { authorization }),
          ...(type !== undefined && { "content-type": type }),
        },
        ...(body !== "" && { body }),
      }).catch(() => new Response(null, { status: 502 }));
      await delayAnswer(url, closing.signal);
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(await answer.text());
    });
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close() {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
