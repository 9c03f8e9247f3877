import type { ServerResponse } from "node:http";
import type { Runtime } from "../runtime.ts";

const momentMs = 1_000;
const keepAliveMs = 15_000;

/**
 * Sends the answer to one call as plain JSON, which costs half of a stream of events. What takes longer
 * than a moment becomes such a stream after all, so that the client sees headers in time. An undefined
 * answer is one that nobody waits for any more.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Promise<object | undefined>,
  options: { headers: Record<string, string>; schedule: Runtime["schedule"] },
): Promise<void> {
  const { headers, schedule } = options;
  const beat = () => {
    // A client that went away ends nothing: its call goes on, as MCP wants it.
    if (response.destroyed) return;
    response.write(": still at it\n\n");
    cancelTimer = schedule(keepAliveMs, beat);
  };
  let cancelTimer = schedule(momentMs, () => {
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    cancelTimer = schedule(keepAliveMs, beat);
  });

  const message = await answer;
  cancelTimer();
  if (response.destroyed) return;
  const text = message && JSON.stringify(message);
  if (response.headersSent) {
    response.end(text === undefined ? "" : `event: message\ndata: ${text}\n\n`);
  } else if (text === undefined) {
    response.writeHead(202, headers).end();
  } else {
    const length = Buffer.byteLength(text);
    response
      .writeHead(200, { ...headers, "content-type": "application/json", "content-length": length })
      .end(text);
  }
}
