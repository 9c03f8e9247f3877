import * as v from "valibot";
import { BareEventSchema, type LedgerEvent } from "../events.ts";
import { assignStepIds } from "./assign-step-ids.ts";
import type { EventRecord } from "../records.ts";
import { sortByTime } from "../checks/timeline-order.ts";

/**
 * The events of a log that belong into a ledger, by time, each naming the step it is of. What the
 * log keeps beside their named members stays behind: a ledger tells structure, not content.
 */
export function parseRecordedEvents(log: readonly EventRecord[]): LedgerEvent[] {
  const events = log.flatMap((record) => {
    const event = v.safeParse(BareEventSchema, record);
    return event.success ? [event.output] : [];
  });
  return assignStepIds(sortByTime(events));
}
