import { limits, type Operation } from "@agent/wire";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { hasMediaType, parseAnswer, readText } from "./parse-answer.ts";
import type { Environment } from "../environment.ts";
import { refusal, type CallRefusal } from "./refusal.ts";

// The relay says something every 15 s: two of them missed, and some slack, mean that nobody is there.
const SILENCE_TIMEOUT_MS = 2.5 * limits.streamKeepAliveMs;

export interface StreamOptions {
  readonly url: string;
  readonly token: string;
  /** The id of the last event that is known; 0 when there is none. */
  readonly after: number;
  readonly environment: Environment;
  readonly signal: AbortSignal | undefined;
  /** The relay said how soon to come back, in ms. */
  readonly onRetry: (ms: number) => void;
}

export type StreamResult =
  | { readonly ok: true; readonly message: EventSourceMessage }
  /** Nothing is left to come, and nothing came. */
  | { readonly ok: true; readonly message: undefined }
  /** Why no more comes; a stream that simply ends has none. */
  | CallRefusal;

/**
 * One connection to a stream of Server-Sent Events, until it ends by itself, breaks, is aborted, falls
 * silent, or is refused. An event that is cut off is left out.
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
      // Whoever takes long over an event does not make the relay silent.
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
    else if (silence.signal.aborted) yield refusal("network.timeout", "The relay fell silent");
    else yield refusal("network.unreachable", "The relay could not be reached");
  } finally {
    cancel();
    // Whoever stops reading in the middle leaves a connection behind.
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
  return refusal("response.malformed", "Answer is no event stream", status);
}
