import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { isHostUnclear } from "../is-host-unclear.ts";

/** The connection as the Node adapter passes it on. An upgrade request has no `outgoing`. */
interface AdapterConnection {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: unknown;
}

type Fetch = (request: Request, connection: object) => Response | Promise<Response>;

/**
 * Sends the complete response of a refused upgrade. The adapter would send only status and headers. A
 * connection that is already closed is left alone.
 */
export function withUpgradeAnswers(relay: Fetch): Fetch {
  return async (request, connection) => {
    const answer = await relay(request, connection);
    const { incoming, outgoing } = connection as AdapterConnection;
    if (incoming !== undefined && outgoing === undefined && answer.status >= 400) {
      await writeResponse(incoming.socket, answer);
    }
    return answer;
  };
}

async function writeResponse(socket: Socket, answer: Response): Promise<void> {
  const body = await answer.text();
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    "Connection: close",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...[...answer.headers].map(([name, value]) => `${name}: ${value}`),
  ];
  await new Promise<void>((resolve) => {
    socket.once("close", resolve);
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  });
}

/**
 * Only WebSocket is upgraded to. A request that offers another protocol, or names no clear host, is answered
 * over HTTP.
 */
export function isWebSocketUpgrade(incoming: IncomingMessage): boolean {
  return incoming.headers.upgrade?.toLowerCase() === "websocket" && !isHostUnclear(incoming);
}
