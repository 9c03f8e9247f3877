import { toMicro } from "@agent/budget";
import { MINUTE_MS } from "../clock/durations.ts";
import type { QueuedEventRow } from "../storage/tables/operator.ts";

/** The sums that events add to the figures of one minute; money in micro-units. */
export interface MinuteChange {
  submitted: number;
  completed: number;
  failed: number;
  expired: number;
  settled: number;
  fees: number;
  /** In ms, from submission to receipt. */
  readonly durations: number[];
}

/** The states in which tasks ended, and the figures of each minute. */
export interface FoldedEvents {
  readonly ended: ReadonlyMap<string, number>;
  readonly minutes: ReadonlyMap<number, MinuteChange>;
}

type FoldedEvent = Pick<QueuedEventRow, "at" | "type" | "body">;

const ENDS = /^task\.(completed|failed|denied|cancelled|expired)$/;

/** Adds up events: the tasks that ended by state, and the figures of each minute. */
export function foldEvents(events: Iterable<FoldedEvent>): FoldedEvents {
  const ended = new Map<string, number>();
  const minutes = new Map<number, MinuteChange>();
  for (const { at, type, body } of events) {
    const state = ENDS.exec(type)?.[1];
    if (state !== undefined) ended.set(state, (ended.get(state) ?? 0) + 1);
    if (!type.startsWith("task.") && type !== "money.settled") continue;
    const minute = Math.floor(at / MINUTE_MS);
    const change = minutes.get(minute) ?? createMinuteChange();
    minutes.set(minute, change);
    addEvent(change, type, body);
  }
  return { ended, minutes };
}

function addEvent(change: MinuteChange, type: string, body: string): void {
  switch (type) {
    case "task.submitted":
      change.submitted += 1;
      return;
    case "task.expired":
      change.expired += 1;
      return;
    case "money.settled": {
      const { amount, fee } = JSON.parse(body) as { amount: number; fee: number };
      change.settled += toMicro(amount);
      change.fees += toMicro(fee);
      return;
    }
    case "task.completed":
    case "task.failed":
    case "task.denied": {
      if (type === "task.completed") change.completed += 1;
      else change.failed += 1;
      change.durations.push((JSON.parse(body) as { duration_ms: number }).duration_ms);
      return;
    }
    default:
  }
}

function createMinuteChange(): MinuteChange {
  const none = { submitted: 0, completed: 0, failed: 0, expired: 0, settled: 0, fees: 0 };
  return { ...none, durations: [] };
}
