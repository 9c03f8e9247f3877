import { limits, type Answer, type Operations } from "@agent/wire";
import { cutStalledStream } from "../http/cut-stalled-stream.ts";
import { createEventStream, type ServerSentEvent } from "../http/event-stream.ts";
import { getCallerExpiry, type OperatorCaller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { listEventsAfter } from "./event-store.ts";
import { toRelayEvent } from "./list-events.ts";
import { numberIfPossible, type FeedServices } from "./number-events.ts";

type StreamServices = FeedServices & Pick<Services, "runtime" | "waiters" | "streamSlots">;

interface Subscription {
  /** The number of the last event that the caller has. */
  readonly after: number;
  readonly caller: OperatorCaller;
  readonly signal: AbortSignal;
}

/** The delay before a disconnected client reconnects. */
const RETRY_MS = 1_000;

/** The name under which these streams wait; no task has it. */
const WAITING_FOR = "relay events";

/**
 * Streams the events after a number as they happen. It ends with the caller's session and when its reader
 * takes nothing. Refused: `stream.too_many`.
 */
export function streamRelayEvents(
  services: StreamServices,
  subscription: Subscription,
): Answer<Operations["listRelayEvents"]> {
  const slot = services.streamSlots.take(subscription.caller);
  if (!slot.ok) return slot;
  const { signal } = subscription;
  const reader = { signal, ended: slot.free };
  const events = cutStalledStream(
    followRelayEvents(services, subscription),
    services.runtime,
    reader,
  );
  return createEventStream(events, { retryMs: RETRY_MS });
}

/** Yields the events after a number as they happen, and null as a keep-alive. */
async function* followRelayEvents(
  services: StreamServices,
  { after, caller, signal }: Subscription,
): AsyncGenerator<ServerSentEvent | null> {
  const { storage, runtime, waiters } = services;
  const until = getCallerExpiry(caller);
  let last = after;
  let shownAt = runtime.now();
  while (!signal.aborted && !waiters.isReleased() && runtime.now() < until) {
    await numberIfPossible(services);
    const page = await listEventsAfter(storage.read, { after: last, limit: limits.eventPage });
    for (const row of page) {
      yield { id: row.sequence, event: row.type, data: toRelayEvent(row) };
      last = row.sequence;
      if (runtime.now() >= until) return;
    }
    if (page.length > 0) {
      shownAt = runtime.now();
      continue;
    }
    if (runtime.now() - shownAt >= limits.streamKeepAliveMs) {
      yield null;
      shownAt = runtime.now();
    }
    await waiters.watch(WAITING_FOR, limits.relayEventPollMs, signal).changed;
  }
}
