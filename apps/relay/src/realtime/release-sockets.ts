import type { Runtime } from "../runtime.ts";
import type { Connection } from "./connections.ts";

/** Devices that are released together reconnect together. */
const STEP_MS = 50;
const MAX_SPREAD_MS = 5_000;
/** With fewer devices the release is faster than its maximum time. */
const MIN_PER_STEP = 50;

/**
 * Notifies devices that the relay is draining, and closes their sockets; resolves when all are notified.
 * `isSpread` spreads this over up to five seconds, because each device then signs in at another process.
 */
export async function releaseSockets(
  connections: readonly Connection[],
  { schedule, isSpread }: Pick<Runtime, "schedule"> & { readonly isSpread: boolean },
): Promise<void> {
  const steps = MAX_SPREAD_MS / STEP_MS;
  const perStep = isSpread
    ? Math.max(MIN_PER_STEP, Math.ceil(connections.length / steps))
    : connections.length;
  for (let next = 0; next < connections.length; next += perStep) {
    if (next > 0) await new Promise<void>((resolve) => schedule(STEP_MS, resolve));
    for (const connection of connections.slice(next, next + perStep)) {
      connection.send({ type: "draining" });
      connection.close(1001, "relay is shutting down");
    }
  }
}
