import type { Config } from "../config.ts";
import type { Services } from "../services.ts";
import { forgottenUntil } from "../storage/forgotten-until.ts";
import { batch, inBatches } from "../storage/in-batches.ts";
import { forgetInbound, forgetSettledOrders } from "./inbound-store.ts";
import { forgetOutbound } from "./outbound-store.ts";
import { forgetOutbox } from "./outbox-store.ts";

/** Whether what was over at a time is forgotten by now. */
export function isForgotten(
  config: Pick<Config, "storage">,
  endedAt: number,
  now: number,
): boolean {
  const until = forgottenUntil(config, now);
  return until !== null && endedAt <= until;
}

/**
 * Forgets what passed between relays as many days after its end as finished tasks are kept. What is
 * open, held for the operator or booked from a peer stays (docs/decisions.md, 7).
 */
export async function forgetOldForwards({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const until = forgottenUntil(config, runtime.now());
  if (until === null) return;
  const old = { until, limit: batch };
  // Where a task goes on to is forgotten last: by it a settlement is passed on.
  for (const forget of [forgetOutbox, forgetSettledOrders, forgetInbound, forgetOutbound]) {
    await inBatches(() => storage.transaction((tx) => forget(tx, old)));
  }
}
