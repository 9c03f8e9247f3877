import type { LedgerEvent } from "../events.ts";
import { isStepEvent, buildStepHistories } from "./step-history.ts";

/**
 * Returns the events, each with the step that it belongs to, which its position shows no more once
 * the events are merged with others.
 */
export function assignStepIds(events: readonly LedgerEvent[]): LedgerEvent[] {
  const { stepIds } = buildStepHistories(events);
  return events.map((event, index) => {
    const step_id = stepIds[index];
    if (step_id === undefined || !isStepEvent(event)) return event;
    return { ...event, payload: { ...event.payload, step_id } } as LedgerEvent;
  });
}
