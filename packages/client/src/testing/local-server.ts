import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
}

/** Returns a reply, or handles the connection itself and returns undefined. */
export type Handler = (
  received: ReceivedRequest,
  response: ServerResponse,
) => Reply | undefined | Promise<Reply | undefined>;

export interface LocalServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly received: readonly ReceivedRequest[];
}

/** Starts a local server that answers by a handler and records the requests. */
export async function startLocalServer(handler: Handler): Promise<LocalServer> {
  const received: ReceivedRequest[] = [];
  const http = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const { method = "", url = "", headers } = request;
    const entry = { method, url, headers, body };
    received.push(entry);
    const reply = await handler(entry, response);
    if (reply === undefined) return;
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
  }

  await once(http.listen(0, "127.0.0.1"), "listening");
  const { port } = http.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
