import type { ServerResponse } from "node:http";
import type { Runtime } from "../../runtime.ts";
import { PRIVATE_STREAM } from "../private-answers.ts";

const STREAM_AFTER_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;

/**
 * Sends the answer to one call as plain JSON, which costs half of an event stream. A call that
 * takes longer becomes an event stream, so that the client receives headers in time. An undefined
 * answer is one that was cancelled.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Promise<object | undefined>,
  options: { headers: Record<string, string>; schedule: Runtime["schedule"] },
): Promise<void> {
  const { headers, schedule } = options;
  const sendKeepAlive = () => {
    // A client that disconnects does not cancel its call, as MCP specifies.
    if (response.destroyed) return;
    response.write(": keep-alive\n\n");
    cancelTimer = schedule(KEEP_ALIVE_MS, sendKeepAlive);
  };
  let cancelTimer = schedule(STREAM_AFTER_MS, () => {
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream",
      "cache-control": PRIVATE_STREAM,
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
