import * as v from "valibot";
import { BareEventSchema, type LedgerEvent } from "../events.ts";
import { assignStepIds } from "./assign-step-ids.ts";
import type { EventRecord } from "../records.ts";
import { mapInSteps, type Steps } from "../map-in-steps.ts";
import { sortByTime } from "../checks/timeline-order.ts";

/**
 * Parses the events of a log that belong in a ledger, in the order of their times, each with its
 * step. Unnamed members are left out: a ledger records structure, not content.
 */
export function* parseRecordedEvents(log: readonly EventRecord[]): Steps<LedgerEvent[]> {
  const events = yield* mapInSteps(log, (record) => {
    const event = v.safeParse(BareEventSchema, record);
    return event.success ? event.output : undefined;
  });
  return assignStepIds(sortByTime(events.filter((event) => event !== undefined)));
}
