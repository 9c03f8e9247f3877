import type { Runtime } from "../../runtime.ts";
import type { SendMessage } from "../delivery/paced-send.ts";

/**
 * Below the 20 s without progress after which the relay lets a lease expire; only leases of this
 * socket are renewed.
 */
const RENEWAL_INTERVAL_MS = 15_000;

/** The running tasks, whose leases at the relay are renewed until they end. */
export interface Leases {
  add(taskId: string): void;
  delete(taskId: string): void;
  has(taskId: string): boolean;
  /** Renews all leases at once. */
  renew(): void;
  stop(): void;
  readonly size: number;
}

export function createLeases(send: SendMessage, runtime: Pick<Runtime, "schedule">): Leases {
  const held = new Set<string>();
  let cancelNext = () => {};

  function renew(): void {
    for (const id of held) send({ type: "progress", task_id: id });
  }

  function renewLater(): void {
    cancelNext();
    cancelNext = runtime.schedule(RENEWAL_INTERVAL_MS, () => {
      renew();
      if (held.size > 0) renewLater();
    });
  }

  return {
    add(taskId) {
      held.add(taskId);
      if (held.size === 1) renewLater();
    },
    delete: (taskId) => void held.delete(taskId),
    has: (taskId) => held.has(taskId),
    renew,
    stop: () => cancelNext(),
    get size() {
      return held.size;
    },
  };
}
