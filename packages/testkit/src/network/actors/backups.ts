import { restoreBackup, unfreeze } from "../relay/freezes.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { MINUTE_MS } from "./network-faults.ts";

/** Lets an operator freeze a relay for some time, or restore a backup that is minutes old. */
export function startBackups(
  { queue, random }: Simulation,
  relays: readonly SimRelay[],
  forMs: number,
): void {
  if (random.next() < 0.3) return;
  // A cheating relay that restores a backup would only harm itself.
  const relay = random.pick(
    relays.filter(({ withholdsSettlements }) => !withholdsSettlements) as [SimRelay],
  );
  const at = random.below(forMs - 35 * MINUTE_MS);
  const frozenMs = MINUTE_MS + random.below(14 * MINUTE_MS);
  if (random.next() < 0.35) {
    whenSettlementIsDue(at, () => {
      if (!relay.isWorking) return;
      relay.freeze(false);
      unfreezeAfter(frozenMs);
    });
    return;
  }
  const age = MINUTE_MS + random.below(12 * MINUTE_MS);
  whenSettlementIsDue(at, () => {
    const backup = relay.store.copy();
    queue.after(age, () => {
      if (!relay.isWorking) return;
      relay.crash(1_000 + random.below(2 * MINUTE_MS));
      restoreBackup(relay, backup);
      unfreezeAfter(frozenMs);
    });
  });

  /** Often waits for the most critical moment: a result is accepted and its settlement has not arrived yet. */
  function whenSettlementIsDue(ms: number, act: () => void): void {
    const waitsMs = random.next() < 0.8 ? 20 * MINUTE_MS : 0;
    const actOnce = (): void => {
      if (relay.onAccepted !== null) queue.after(0, act);
      relay.onAccepted = null;
    };
    queue.after(ms, () => (relay.onAccepted = actOnce));
    queue.after(ms + waitsMs, actOnce);
  }

  function unfreezeAfter(ms: number): void {
    queue.after(ms, () => (relay.isDown ? unfreezeAfter(MINUTE_MS) : unfreeze(relay)));
  }
}
