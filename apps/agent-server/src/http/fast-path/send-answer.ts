import type { ServerResponse } from "node:http";
import type { Runtime } from "../../runtime.ts";

const STREAM_AFTER_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;

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
  const sendKeepAlive = () => {
    // A client that went away ends nothing: its call goes on, as MCP wants it.
    if (response.destroyed) return;
    response.write(": still at it\n\n");
    cancelTimer = schedule(KEEP_ALIVE_MS, sendKeepAlive);
  };
  let cancelTimer = schedule(STREAM_AFTER_MS, () => {
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    cancelTimer = schedule(KEEP_ALIVE_MS, sendKeepAlive);
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
