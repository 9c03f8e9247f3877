import type { LedgerEvent } from "../events.ts";
import { isStepEvent, buildStepHistories } from "./step-history.ts";

/**
 * Returns the events, each with its step id, because once events are merged with others their position no
 * longer shows the step.
 */
export function assignStepIds(events: readonly LedgerEvent[]): LedgerEvent[] {
  const { stepIds } = buildStepHistories(events);
  return events.map((event, index) => {
    const step_id = stepIds[index];
    if (step_id === undefined || !isStepEvent(event)) return event;
    return { ...event, payload: { ...event.payload, step_id } } as LedgerEvent;
  });
}
