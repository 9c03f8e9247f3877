import { hashArgs, type LedgerEvent, type LedgerStatus } from "@agent/ledger";
import { unlessMalformed } from "@agent/crypto";

/** A tool call that the timeline states as begun. */
export interface RecordedCall {
  /** States that the tool has answered. */
  end(ok: boolean): void;
  /** Takes the call back, because the tool did not run. */
  withdraw(): void;
}

/** Records the events of one task in the order of time. */
export interface Timeline {
  beginCall(tool: string, args: unknown): RecordedCall;
  /** Adds the end of the goal. Returns all events, or undefined if some of them cannot be stated. */
  finish(status: LedgerStatus): readonly LedgerEvent[] | undefined;
}

/** More events than fit into one request to a relay. */
const MAX_EVENTS = 10_000;

/**
 * Creates the timeline of a goal that starts now. Events stay in order when the clock jumps back. A call whose
 * arguments have no canonical JSON, and too many events, leave no timeline, because the rest would pass for
 * all that happened.
 */
export function createTimeline(goalId: string, now: () => number): Timeline {
  const events = new Set<LedgerEvent>();
  let lastAt = now();
  let callCount = 0;
  let isCutOff = false;
  const unstated = new Set<LedgerEvent>();

  function add(event: Pick<LedgerEvent, "type" | "payload">): LedgerEvent {
    lastAt = Math.max(lastAt, now());
    const dated = { timestamp: lastAt, ...event } as LedgerEvent;
    if (events.size < MAX_EVENTS) events.add(dated);
    else isCutOff = true;
    return dated;
  }

  add({ type: "goal_started", payload: { goal_id: goalId } });
  return {
    beginCall(tool, args) {
      const call_id = String(++callCount);
      const args_hash = unlessMalformed(() => hashArgs(args));
      const invoked = add({
        type: "tool_invoked",
        payload: { tool, args_hash: args_hash ?? "", call_id },
      });
      if (args_hash === undefined) unstated.add(invoked);
      return {
        end(ok) {
          const duration_ms = Math.max(lastAt, now()) - invoked.timestamp;
          add({ type: "tool_result", payload: { tool, ok, duration_ms, call_id } });
        },
        withdraw() {
          events.delete(invoked);
          unstated.delete(invoked);
        },
      };
    },
    finish(status) {
      add({ type: "goal_completed", payload: { status } });
      return isCutOff || unstated.size > 0 ? undefined : [...events];
    },
  };
}
