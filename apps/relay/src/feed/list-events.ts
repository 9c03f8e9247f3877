import type { Answer, Operations, QueryOf, RelayEvent } from "@agent/wire";
import { createPageAnswer, numberAscending } from "../http/paging/page.ts";
import type { RelayEventRow } from "../storage/tables/operator.ts";
import { listEventsAfter, listPeerEvents } from "./event-store.ts";
import { numberIfPossible, type FeedServices } from "./number-events.ts";

/** Lists the events after a number, oldest first. */
export async function listRelayEvents(
  services: FeedServices,
  { after = 0, ...query }: QueryOf<Operations["listRelayEvents"]>,
): Promise<Answer<Operations["listRelayEvents"]>> {
  const isCurrent = await numberIfPossible(services);
  return createPageAnswer(query, {
    order: { ...numberAscending, start: after },
    find: (from, limit) => listEventsAfter(services.storage.read, { after: from, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({
      events: rows.map(toRelayEvent),
      ...(!isCurrent && { delayed: true as const }),
    }),
  });
}

/** Lists the events of a peer before a number, newest first. */
export async function listRecentPeerEvents(
  services: FeedServices,
  page: { readonly peer_id: string; readonly before: number; readonly limit: number },
): Promise<RelayEvent[]> {
  await numberIfPossible(services);
  return (await listPeerEvents(services.storage.read, page)).map(toRelayEvent);
}

export function toRelayEvent({ sequence, at, type, body }: RelayEventRow): RelayEvent {
  return { sequence, at, type, ...(JSON.parse(body) as Record<string, unknown>) };
}
