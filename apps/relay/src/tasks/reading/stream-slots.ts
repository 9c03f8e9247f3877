import { limits, refuse, type Refusal } from "@agent/wire";
import type { Caller } from "../../identity/caller.ts";

/** The slot of one open event stream among those of its caller. */
export interface StreamSlot {
  readonly ok: true;
  /** Counts the stream for its task as well. Refused: `stream.too_many`. */
  readonly assign: (taskId: string) => Refusal<"stream.too_many"> | undefined;
  /** Frees the place; a second call changes nothing. */
  readonly free: () => void;
}

/** Counts the open event streams of each caller, which cost the relay memory while their client does not read. */
export interface StreamSlots {
  /** Acquires a slot for a stream of the caller. Refused: `stream.too_many`. */
  take(caller: Caller): StreamSlot | Refusal<"stream.too_many">;
}

const RETRY_AFTER_SECONDS = 5;

export function createStreamSlots(): StreamSlots {
  const open = new Map<string, number>();

  /** Counts one more stream under the key; false when as many as allowed are open. */
  function count(key: string, max: number): boolean {
    const current = open.get(key) ?? 0;
    if (current >= max) return false;
    open.set(key, current + 1);
    return true;
  }

  function discount(key: string): void {
    const left = (open.get(key) ?? 0) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
  }

  return {
    take(caller) {
      const name = caller.kind === "agent" ? caller.agentId : "operator";
      const isOperator = caller.kind === "master";
      const max = isOperator ? limits.operatorStreams : limits.streamsPerCaller;
      if (!count(name, max)) return refuseStream(max);
      let keys = [name];
      return {
        ok: true,
        assign(taskId) {
          const key = `${name} ${taskId}`;
          if (isOperator) return undefined;
          if (!count(key, limits.streamsPerTask)) {
            return refuseStream(limits.streamsPerTask, "of one task");
          }
          keys.push(key);
          return undefined;
        },
        free() {
          keys.forEach(discount);
          keys = [];
        },
      };
    },
  };
}

function refuseStream(max: number, scope = "of one caller"): Refusal<"stream.too_many"> {
  return {
    ...refuse("stream.too_many", `at most ${max} streams ${scope} may be open`),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}
