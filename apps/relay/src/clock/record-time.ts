import { correctKeyStarts } from "../agents/keys/correct-key-starts.ts";
import { capSettlementDelays } from "../federation/settlement/cap-settlement-delays.ts";
import { shortenInspections } from "../inspections/shorten-deadlines.ts";
import type { Services } from "../services.ts";
import { saveTime } from "./store.ts";

/** Longer than the interval of the job, so that one run follows each jump back. */
const RECENT_MS = 60_000;

/**
 * Stores the time, so that a relay that starts after its wall clock was set back can continue from there. A
 * crash loses less than the 60 s within which the clock follows the wall clock anyway. After a jump back,
 * times that were set at the wrong time are corrected first, so that a relay that is killed in between
 * accepts the jump again.
 */
export async function recordTime(
  services: Pick<Services, "storage" | "runtime" | "clock" | "federation">,
): Promise<void> {
  const { storage, runtime, clock } = services;
  if (clock.elapsed() - clock.lastMovedBackAt() <= RECENT_MS) {
    await correctKeyStarts(services);
    await shortenInspections(services);
    await capSettlementDelays(services);
  }
  await storage.transaction((tx) => saveTime(tx, runtime.now()));
}
