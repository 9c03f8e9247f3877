import type { LedgerEvent } from "../events.ts";
import { isStepEvent, buildStepHistories } from "./step-history.ts";

/** The events with the step that each is of: among others, its place would no longer tell it. */
export function assignStepIds(events: readonly LedgerEvent[]): LedgerEvent[] {
  const { stepIds: stepOf } = buildStepHistories(events);
  return events.map((event, index) => {
    const step_id = stepOf[index];
    if (step_id === undefined || !isStepEvent(event)) return event;
    return { ...event, payload: { ...event.payload, step_id } } as LedgerEvent;
  });
}
