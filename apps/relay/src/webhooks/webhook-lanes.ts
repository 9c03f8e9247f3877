import type { Log } from "../observability/log.ts";
import type { DueWebhook } from "./store.ts";

/**
 * Runs the deliveries of each webhook in a lane of its own, and of each owner only a few lanes at
 * once, so that a receiver that does not answer delays neither other owners nor, as long as the owner
 * has other lanes, its other webhooks.
 */
export interface WebhookLanes {
  /** Begins a lane for each webhook that has none, or as soon as its owner may have another. */
  begin(due: readonly DueWebhook[], deliver: (webhook: DueWebhook) => Promise<void>): void;
  /** Resolves when no lane runs. */
  idle(): Promise<void>;
}

const MAX_LANES_PER_OWNER = 4;
/** Bounds the connections of the relay to all receivers together. */
const MAX_LANES = 512;

/** The webhooks of one owner: those with a lane, and those that wait for one. */
interface Owner {
  running: number;
  waiting: DueWebhook[];
}

export function createWebhookLanes(log: Log): WebhookLanes {
  const owners = new Map<string, Owner>();
  const lanes = new Map<string, Promise<void>>();

  function beginNext(
    key: string,
    owner: Owner,
    deliver: (webhook: DueWebhook) => Promise<void>,
  ): void {
    while (owner.running < MAX_LANES_PER_OWNER && lanes.size < MAX_LANES) {
      const webhook = owner.waiting.shift();
      if (webhook === undefined) break;
      if (lanes.has(webhook.webhook_id)) continue;
      owner.running += 1;
      const lane = deliver(webhook)
        .catch((error: unknown) =>
          log.error("job.failed", { job: "deliver-webhooks", error: String(error) }),
        )
        .then(() => {
          lanes.delete(webhook.webhook_id);
          owner.running -= 1;
          beginNext(key, owner, deliver);
        });
      lanes.set(webhook.webhook_id, lane);
    }
    if (owner.running === 0 && owner.waiting.length === 0) owners.delete(key);
  }

  return {
    begin(due, deliver) {
      for (const [key, waiting] of Map.groupBy(due, ({ owner }) => owner ?? "")) {
        const owner = owners.get(key) ?? { running: 0, waiting: [] };
        owners.set(key, owner);
        owner.waiting = waiting;
        beginNext(key, owner, deliver);
      }
    },
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
