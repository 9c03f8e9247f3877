import { limits, type Operation } from "@agent/wire";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { hasMediaType, parseAnswer, readText } from "./parse-answer.ts";
import type { Environment } from "../environment.ts";
import { refusal, type CallRefusal } from "./refusal.ts";

// The relay sends a signal every 15 s; after two missed signals and a margin the connection is dead.
const SILENCE_TIMEOUT_MS = 2.5 * limits.streamKeepAliveMs;

/** The options of a stream of events. */
export interface StreamOptions {
  readonly url: string;
  readonly token: string;
  /** The id of the last known event; 0 if there is none. */
  readonly after: number;
  readonly environment: Environment;
  readonly signal: AbortSignal | undefined;
  /** Called with the reconnection time in ms that the relay sends. */
  readonly onRetry: (ms: number) => void;
}

/** The next message of a stream, or its end. */
export type StreamResult =
  | { readonly ok: true; readonly message: EventSourceMessage }
  /** The stream has ended normally. */
  | { readonly ok: true; readonly message: undefined }
  /** The reason why the stream ended early. */
  | CallRefusal;

/**
 * Opens one connection to a stream of Server-Sent Events and yields its messages until it ends, fails, is
 * aborted, stays silent for too long or is refused. An incomplete last event is dropped.
 */
export async function* openEventStream(
  op: Operation,
  options: StreamOptions,
): AsyncGenerator<StreamResult, void, undefined> {
  const { environment, signal } = options;
  const silence = new AbortController();
  let cancel = () => {};
  const restartSilenceTimer = () => {
    cancel = environment.schedule(SILENCE_TIMEOUT_MS, () => silence.abort());
  };
  const messages: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: limits.outboundBytes,
    onEvent: (message) => messages.push(message),
    onRetry: options.onRetry,
    onError: ({ type }) => (isTooLarge ||= type === "max-buffer-size-exceeded"),
  });
  const decoder = new TextDecoder();
  try {
    restartSilenceTimer();
    const response = await environment.fetch(
      options.url,
      buildRequestInit(options, silence.signal),
    );
    if (response.status === 204) {
      yield { ok: true, message: undefined };
      return;
    }
    const refused = await parseStreamRefusal(op, response, environment);
    if (refused !== undefined) {
      yield refused;
      return;
    }
    for await (const chunk of response.body ?? []) {
      // The time that the consumer spends on an event does not count as silence.
      cancel();
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const message of messages.splice(0)) yield { ok: true, message };
      if (isTooLarge) {
        yield refusal("response.too_large", "An event is larger than 2 MiB", response.status);
        return;
      }
      restartSilenceTimer();
    }
  } catch {
    if (signal?.aborted === true) yield refusal("network.aborted", "The stream was aborted");
    else if (silence.signal.aborted)
      yield refusal("network.timeout", "The relay sent nothing for too long");
    else yield refusal("network.unreachable", "The relay could not be reached");
  } finally {
    cancel();
    // Closes the connection of a consumer that stops reading early.
    silence.abort();
  }
}

function buildRequestInit(
  { token, after, signal }: StreamOptions,
  silence: AbortSignal,
): RequestInit {
  return {
    redirect: "manual",
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(after > 0 && { "last-event-id": String(after) }),
    },
    signal: signal === undefined ? silence : AbortSignal.any([signal, silence]),
  };
}

async function parseStreamRefusal(
  op: Operation,
  response: Response,
  environment: Environment,
): Promise<CallRefusal | undefined> {
  const { ok, status } = response;
  if (ok && hasMediaType(response, "text/event-stream")) return undefined;
  if (!ok) {
    const text = await readText(response);
    const answer = parseAnswer(op, response, { text, now: environment.now() });
    if (!answer.ok) return answer;
  }
  return refusal("response.malformed", "Answer is not an event stream", status);
}
