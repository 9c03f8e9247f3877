import { type CallRefusal, fullJitter, openEventStream } from "@agent/client";
import type { RelayEvent } from "@agent/wire";
import { describeOperation, getRelayUrl } from "./call-relay.ts";
import { browserEnvironment } from "./page-context.ts";

/** Whether the page currently receives events. After `ended`, a new session is needed. */
export type FeedState = "live" | "reconnecting" | "ended";

/** Returns a bearer token; a new one if the relay refused the previous one. */
export type TokenSource = (
  isRefused: boolean,
) => Promise<{ readonly ok: true; readonly token: string } | CallRefusal>;

export interface FollowOptions {
  readonly getToken: TokenSource;
  /** The number of the last event that the page knows. */
  readonly after: number;
  readonly onEvent: (event: RelayEvent) => void;
  readonly onState: (state: FeedState) => void;
  readonly signal: AbortSignal;
}

const BACKOFF = { baseMs: 500, capMs: 5_000 };

/**
 * Follows the relay's events across lost connections and expired tokens, each event once and in order, until it
 * is aborted or the session has ended.
 */
export async function followRelayEvents(options: FollowOptions): Promise<void> {
  const { signal, onState } = options;
  let after = options.after;
  let failures = 0;
  let isRefused = false;
  while (!signal.aborted) {
    const bearer = await options.getToken(isRefused);
    if (!bearer.ok && isDenied(bearer)) return onState("ended");
    const lost = bearer.ok ? await readStream(bearer.token) : bearer;
    if (signal.aborted) return;
    isRefused = lost !== undefined && isDenied(lost);
    // A stream ends when its token expires, which does not count as a lost connection.
    if (lost !== undefined) onState("reconnecting");
    failures += lost === undefined ? 0 : 1;
    const waitMs = fullJitter(failures, BACKOFF, browserEnvironment.randomBytes);
    await new Promise<void>((resolve) => browserEnvironment.schedule(waitMs, resolve));
  }

  async function readStream(token: string): Promise<CallRefusal | undefined> {
    const connected = () => {
      failures = 0;
      onState("live");
    };
    const operation = describeOperation("listRelayEvents");
    const url = `${getRelayUrl()}${operation.path.slice(1)}`;
    const stream = {
      url,
      token,
      after,
      environment: browserEnvironment,
      signal,
      onRetry: connected,
    };
    for await (const result of openEventStream(operation, stream)) {
      if (!result.ok) return result;
      if (result.message === undefined) return undefined;
      const event = JSON.parse(result.message.data) as RelayEvent;
      if (event.sequence <= after) continue;
      after = event.sequence;
      options.onEvent(event);
    }
    return undefined;
  }
}

/** Whether the session has ended, in contrast to a relay that does not answer. */
const isDenied = ({ status }: CallRefusal) => status === 401 || status === 403;
