import { text } from "node:stream/consumers";
import { startLoopbackServer, type LoopbackServer } from "@agent/testkit";

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
): Promise<LoopbackServer> {
  return startLoopbackServer((request, response) => {
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
}
