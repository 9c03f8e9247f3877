import type { MediaAnswer } from "@agent/wire";

/** One server-sent event; `data` is written as JSON. */
export interface ServerSentEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: object;
}

/** Proxies must pass a stream on at once and store none of it. */
const STREAM_HEADERS = { "cache-control": "no-store", "x-accel-buffering": "no" };
/** A comment, which keeps proxies from closing a connection as idle. */
const KEEP_ALIVE = ": still here\n\n";

/** Answers a stream of events; null sends a comment. `retryMs` is the delay before a client reconnects. */
export function createEventStream(
  events: AsyncIterable<ServerSentEvent | null>,
  { retryMs, headers }: { retryMs?: number; headers?: Readonly<Record<string, string>> } = {},
): MediaAnswer<"text/event-stream"> {
  return {
    status: 200,
    mediaType: "text/event-stream",
    content: formatEvents(events, retryMs),
    headers: { ...STREAM_HEADERS, ...headers },
  };
}

async function* formatEvents(
  events: AsyncIterable<ServerSentEvent | null>,
  retryMs: number | undefined,
): AsyncIterable<string> {
  if (retryMs !== undefined) yield `retry: ${retryMs}\n\n`;
  for await (const event of events) yield event === null ? KEEP_ALIVE : formatEvent(event);
}

function formatEvent({ id, event, data }: ServerSentEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

/**
 * Parses the id of the last event that a disconnected client received; undefined unless it is a
 * number.
 */
export function parseLastEventId(headers: Headers): number | undefined {
  const given = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(given) ? Number(given) : undefined;
}
