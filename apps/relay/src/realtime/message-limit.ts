import { limits } from "@agent/wire";

/**
 * The decision on one message: the first above the limit is refused, many in a row close the
 * socket.
 */
export type MessageDecision = "take" | "refuse" | "close";

/** A sender that waits for its answers has stopped by then. */
const MAX_CONSECUTIVE_REFUSALS = 20;

/**
 * Creates a limit of 100 messages in any 10 s per connection (specification, "Limits"); scale 0
 * switches it off.
 */
export function createMessageLimit(scale: number): (now: number) => MessageDecision {
  const allowed = Math.floor(limits.socketMessages * scale);
  const taken: number[] = [];
  let refused = 0;
  return (now) => {
    if (scale === 0) return "take";
    while (taken[0] !== undefined && now - taken[0] >= limits.socketWindowMs) taken.shift();
    if (taken.length < allowed) {
      taken.push(now);
      refused = 0;
      return "take";
    }
    refused += 1;
    return refused > MAX_CONSECUTIVE_REFUSALS ? "close" : "refuse";
  };
}
