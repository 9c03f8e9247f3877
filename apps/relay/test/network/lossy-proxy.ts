import {
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { startLoopbackServer, type LoopbackServer } from "@agent/testkit";

/** The proxy's decision about a request; with `busy`, the proxy itself answers 429. */
export type ProxyAction = "pass" | "lose-answer" | "refuse" | "busy";

export interface LossyProxy extends LoopbackServer {
  /** Returns how many answers of the relay were lost. */
  readonly countLost: () => number;
  to(url: string): void;
}

/** Starts a proxy in front of a relay; the request of a lost answer still had its effect. */
export async function startLossyProxy(
  chooseAction: (path: string, headers: IncomingHttpHeaders) => ProxyAction,
): Promise<LossyProxy> {
  let target = "http://127.0.0.1:1";
  let lost = 0;
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const fate = chooseAction(incoming.url ?? "", incoming.headers);
    if (fate === "refuse") return void incoming.socket.destroy();
    if (fate === "busy") {
      incoming.resume();
      return void outgoing.writeHead(429, { "retry-after": "60" }).end();
    }
    const onward = forward(
      `${target}${incoming.url}`,
      { method: incoming.method ?? "GET", headers: incoming.headers },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          if (fate === "lose-answer") {
            lost += 1;
            return void incoming.socket.destroy();
          }
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          outgoing.end(Buffer.concat(chunks));
        });
      },
    );
    onward.on("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
  };
  const server = await startLoopbackServer(pass);
  return {
    ...server,
    countLost: () => lost,
    to(url) {
      target = url;
    },
  };
}
