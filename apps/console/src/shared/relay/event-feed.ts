import { type ReadonlySignal, signal } from "@preact/signals";
import type { RelayEvent } from "@agent/wire";
import { type FeedState, type FollowOptions, followRelayEvents } from "./follow-relay-events.ts";

/** The relay's events as they happen. */
export interface EventFeed {
  /** The newest events, newest first. */
  readonly recent: ReadonlySignal<readonly RelayEvent[]>;
  /** Null until the first connection. */
  readonly state: ReadonlySignal<FeedState | null>;
  /** The time in ms of the latest event, or the latest time at which the page knew that there was none. */
  readonly liveAt: ReadonlySignal<number | null>;
  /** Calls a function for each later event; the returned function ends that. */
  listen(listener: (event: RelayEvent) => void): () => void;
}

const MAX_RECENT = 100;

export interface FeedOptions extends Pick<FollowOptions, "getToken" | "signal"> {
  /** The number of the newest event at the start; a few earlier ones are also read for the list. */
  readonly lastEvent: number;
  readonly shownBefore: number;
  readonly now: () => number;
}

/** Starts to follow the events of the relay. */
export function openEventFeed(options: FeedOptions): EventFeed {
  const { getToken, lastEvent, shownBefore, now, signal: stop } = options;
  const recent = signal<readonly RelayEvent[]>([]);
  const state = signal<FeedState | null>(null);
  const liveAt = signal<number | null>(null);
  const listeners = new Set<(event: RelayEvent) => void>();
  void followRelayEvents({
    getToken,
    after: Math.max(0, lastEvent - shownBefore),
    signal: stop,
    onState(next) {
      state.value = next;
      if (next === "live") liveAt.value = now();
    },
    onEvent(event) {
      recent.value = [event, ...recent.value].slice(0, MAX_RECENT);
      liveAt.value = now();
      if (event.sequence <= lastEvent) return;
      for (const listener of listeners) listener(event);
    },
  });
  return {
    recent,
    state,
    liveAt,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
