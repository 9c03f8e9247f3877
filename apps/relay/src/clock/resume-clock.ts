import type { Log } from "../observability/log.ts";
import type { Reader } from "../storage/storage.ts";
import type { RelayClock } from "./relay-clock.ts";
import { findStoredTime } from "./store.ts";

/** Continues the clock from the newest stored time and logs its jumps. */
export async function resumeClock(clock: RelayClock, read: Reader, log: Log): Promise<void> {
  clock.resume(await findStoredTime(read), {
    onJump: (offset_ms) => log.error("clock.jumped", { offset_ms }),
    onSettle: (moved_ms) => log.warn("clock.settled", { moved_ms }),
  });
}
