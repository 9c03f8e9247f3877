import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { delayed, eventNumber, nextCursor, pageQuery, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/**
 * A change at the relay, numbered from 1 without gaps; `type` is like `task.completed` or `relay.frozen`.
 * Further members depend on it: ids, and money in USD.
 */
export const RelayEvent = v.looseObject({
  sequence: describeAs(wholeNumber, "The number of the event, from 1 without gaps."),
  at: wholeNumber,
  type: describeAs(
    v.string(),
    "The type of the event, such as `task.completed` or `relay.frozen`.",
  ),
});
export type RelayEvent = v.InferInput<typeof RelayEvent>;

export const relayEvents = {
  listRelayEvents: defineOperation({
    method: "GET",
    path: "/api/v1/admin/events",
    summary:
      "List the changes at the relay, oldest first; with `Accept: text/event-stream` as a stream. " +
      "Events are kept for 7 days.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({ after: eventNumber, ...pageQuery }),
    headers: {
      "Last-Event-ID": "The number of the last received event; takes precedence over `after`.",
    },
    media: ["text/event-stream"],
    ok: {
      200: v.object({
        events: describeAs(v.array(RelayEvent), "The events, oldest first."),
        next_cursor: nextCursor,
        delayed,
      }),
    },
    refusals: ["request.invalid", "stream.too_many"],
  }),
} as const;
