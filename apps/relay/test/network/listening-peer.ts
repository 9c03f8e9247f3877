import type { IncomingMessage, ServerResponse } from "node:http";
import { startLoopbackServer, type LoopbackServer } from "@agent/testkit";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

export interface ListeningPeer extends LoopbackServer {
  /** All received requests, in order. */
  readonly requests: ReceivedRequest[];
}

/** Starts a loopback server with the given answers; undefined closes the connection instead. */
export async function startListeningPeer(
  reply: (asked: ReceivedRequest, response: ServerResponse) => unknown,
): Promise<ListeningPeer> {
  const asked: ReceivedRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const one: ReceivedRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      // The body of a request to a witness is not JSON.
      body: !text.startsWith("{") ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
    asked.push(one);
    const body: unknown = await reply(one, response);
    if (response.headersSent) return;
    if (body === undefined) return void request.socket.destroy();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  const server = await startLoopbackServer((...call) => void answer(...call));
  return { ...server, requests: asked };
}
