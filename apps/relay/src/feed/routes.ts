import type { Handlers } from "../http/handler.ts";
import { parseLastEventId } from "../http/event-stream.ts";
import { operatorCaller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { getSeries } from "./get-series.ts";
import { listRelayEvents } from "./list-events.ts";
import { streamRelayEvents } from "./stream-events.ts";

type FeedHandlers = Pick<Handlers, "getSeries" | "listRelayEvents">;

export function feedHandlers(services: Services): FeedHandlers {
  return {
    getSeries: ({ query }) => getSeries(services, query),
    listRelayEvents({ query }, { caller, headers, signal }) {
      const isStream = (headers.get("accept") ?? "").includes("text/event-stream");
      if (!isStream) return listRelayEvents(services, query);
      const after = parseLastEventId(headers) ?? query.after ?? 0;
      const operator = caller.kind === "master" ? caller : operatorCaller;
      return streamRelayEvents(services, { after, caller: operator, signal });
    },
  };
}
