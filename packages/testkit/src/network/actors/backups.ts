import { restoreBackup, unfreeze } from "../relay/freezing.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";

/** An operator freezes a relay for a while, or restores a backup that was taken minutes ago. */
export function startFreezes(
  { queue, random }: World,
  relays: readonly SimRelay[],
  forMs: number,
): void {
  if (random.next() < 0.5) return;
  // A cheat that restores a backup only cheats itself.
  const relay = random.pick(relays.filter(({ settlesNothing }) => !settlesNothing) as [SimRelay]);
  const at = random.below(forMs - 30 * MINUTE);
  const standsMs = MINUTE + random.below(20 * MINUTE);
  if (random.next() < 0.4) {
    queue.after(at, () => {
      if (!relay.isWorking) return;
      relay.freeze(false);
      unfreezeAfter(standsMs);
    });
    return;
  }
  const age = MINUTE + random.below(12 * MINUTE);
  queue.after(at, () => {
    const backup = relay.store.copy();
    queue.after(age, () => {
      if (!relay.isWorking) return;
      relay.crash(1_000 + random.below(2 * MINUTE));
      restoreBackup(relay, backup);
      unfreezeAfter(standsMs);
    });
  });

  function unfreezeAfter(ms: number): void {
    queue.after(ms, () => (relay.isDown ? unfreezeAfter(MINUTE) : unfreeze(relay)));
  }
}
