import { restoreBackup, unfreeze } from "../relay/freezing.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";

/** An operator freezes a relay for a while, or restores a backup that was taken minutes ago. */
export function startFreezes(
  { queue, random }: World,
  relays: readonly SimRelay[],
  forMs: number,
): void {
  if (random.next() < 0.3) return;
  // A cheat that restores a backup only cheats itself.
  const relay = random.pick(relays.filter(({ settlesNothing }) => !settlesNothing) as [SimRelay]);
  const at = random.below(forMs - 35 * MINUTE);
  const standsMs = MINUTE + random.below(14 * MINUTE);
  if (random.next() < 0.35) {
    whenSettlementIsDue(at, () => {
      if (!relay.isWorking) return;
      relay.freeze(false);
      unfreezeAfter(standsMs);
    });
    return;
  }
  const age = MINUTE + random.below(12 * MINUTE);
  whenSettlementIsDue(at, () => {
    const backup = relay.store.copy();
    queue.after(age, () => {
      if (!relay.isWorking) return;
      relay.crash(1_000 + random.below(2 * MINUTE));
      restoreBackup(relay, backup);
      unfreezeAfter(standsMs);
    });
  });

  /** Often at the worst moment from then on: a result is accepted, and its settlement is not there yet. */
  function whenSettlementIsDue(ms: number, act: () => void): void {
    const waitsMs = random.next() < 0.8 ? 20 * MINUTE : 0;
    const actOnce = (): void => {
      if (relay.whenAccepted !== null) queue.after(0, act);
      relay.whenAccepted = null;
    };
    queue.after(ms, () => (relay.whenAccepted = actOnce));
    queue.after(ms + waitsMs, actOnce);
  }

  function unfreezeAfter(ms: number): void {
    queue.after(ms, () => (relay.isDown ? unfreezeAfter(MINUTE) : unfreeze(relay)));
  }
}
