import type { LedgerEvent, LedgerStatus } from "@agent/ledger";

/** Records the events of one task in the order of time. */
export interface Timeline {
  /** States that a tool has begun to run; the returned function states that it has answered. */
  beginCall(tool: string, argsHash: string): (ok: boolean) => void;
  /** Adds the end of the goal. Returns all events, or undefined if there are too many of them. */
  finish(status: LedgerStatus): readonly LedgerEvent[] | undefined;
}

/** More events than fit into one request to a relay. */
const MAX_EVENTS = 10_000;

/**
 * Creates the timeline of a goal that starts now. Events stay in order when the clock jumps back. Too many
 * events leave no timeline, because the rest would pass for all that happened.
 */
export function createTimeline(goalId: string, now: () => number): Timeline {
  const events: LedgerEvent[] = [];
  let lastAt = now();
  let callCount = 0;
  let isCutOff = false;

  function add(event: Pick<LedgerEvent, "type" | "payload">): void {
    lastAt = Math.max(lastAt, now());
    if (events.length < MAX_EVENTS) events.push({ timestamp: lastAt, ...event } as LedgerEvent);
    else isCutOff = true;
  }

  add({ type: "goal_started", payload: { goal_id: goalId } });
  return {
    beginCall(tool, args_hash) {
      const call_id = String(++callCount);
      add({ type: "tool_invoked", payload: { tool, args_hash, call_id } });
      const begunAt = lastAt;
      return (ok) => {
        const duration_ms = Math.max(lastAt, now()) - begunAt;
        add({ type: "tool_result", payload: { tool, ok, duration_ms, call_id } });
      };
    },
    finish(status) {
      add({ type: "goal_completed", payload: { status } });
      return isCutOff ? undefined : [...events];
    },
  };
}
