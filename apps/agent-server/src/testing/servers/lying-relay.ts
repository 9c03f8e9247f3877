import type { IncomingMessage, ServerResponse } from "node:http";
import { startLoopbackServer } from "@agent/testkit";

export interface LyingRelay {
  readonly url: string;
  /** Changes the JSON of the answers to GET requests; undefined: passes them on. */
  lie: ((path: string, body: Record<string, unknown>) => unknown) | undefined;
  /** Awaited before a request goes to the relay, and again before its answer goes back. */
  hold: ((request: string, moment: "before" | "after") => Promise<void>) | undefined;
  readonly stop: () => Promise<void>;
}

/** Forwards requests to a real relay and changes its answers as a test wants. */
export async function startLyingRelay(target: string): Promise<LyingRelay> {
  const relay: Pick<LyingRelay, "lie" | "hold"> = { lie: undefined, hold: undefined };
  async function answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url: path = "/" } = request;
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && !["host", "connection", "content-length"].includes(name)
        ? [[name, value] as [string, string]]
        : [],
    );
    await relay.hold?.(`${method} ${path}`, "before");
    const answer = await fetch(`${target}${path}`, {
      method,
      headers,
      ...(method !== "GET" && { body: Buffer.concat(chunks) }),
    }).catch(() => undefined);
    await relay.hold?.(`${method} ${path}`, "after");
    if (answer === undefined) return void response.destroy();
    let text = await answer.text();
    if (relay.lie !== undefined && method === "GET" && answer.ok) {
      const body = JSON.parse(text) as Record<string, unknown>;
      text = JSON.stringify(relay.lie(path, body) ?? body);
    }
    const type = answer.headers.get("content-type") ?? "application/json";
    response.writeHead(answer.status, { "content-type": type }).end(text);
  }
  const server = await startLoopbackServer((...call) => void answerRequest(...call));
  return Object.assign(relay, {
    url: server.url,
    stop: server.close,
  });
}
