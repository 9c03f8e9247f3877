import type { Log } from "../observability/log.ts";
import { findNextWebhook, isLaneWanted } from "./lane-order.ts";
import type { DueWebhook } from "./store.ts";

/** Webhooks with due deliveries in the order of their turns. */
export interface WebhookRound {
  readonly due: readonly DueWebhook[];
  /** Whether no others have due deliveries. */
  readonly isWhole: boolean;
}

/** Sends due deliveries of one webhook, and another one only while it may continue. */
export type Deliver = (webhook: DueWebhook, mayContinue: () => boolean) => Promise<void>;

/**
 * Runs the deliveries of each webhook in a separate lane. Owners take turns with the lanes, and none has
 * more than a few at a time, so that slow or unresponsive receivers delay other owners by a bounded time,
 * and an owner's other webhooks only if it has more of them than lanes.
 */
export interface WebhookLanes {
  /** Whether a webhook of another round may get a lane before those that already wait. */
  hasRoom(): boolean;
  /** The owner that got a lane last, after whom the next round begins. */
  lastOwner(): string;
  /**
   * Replaces the webhooks that wait, whose order breaks ties, and begins lanes while there are any. A
   * webhook that has a lane does not wait.
   */
  begin(round: WebhookRound, deliver: Deliver): void;
  /** Resolves when no lane runs. */
  idle(): Promise<void>;
}

/** Bounds the connections of the relay to all receivers together. */
const MAX_LANES = 512;
/** A lane that others want ends at the first answer after this time. */
const LANE_TIME_MS = 1_000;

export function createWebhookLanes(log: Log, elapsed: () => number): WebhookLanes {
  const lanes = new Map<string, Promise<void>>();
  const counts = new Map<string, number>();
  let waiting: DueWebhook[] = [];
  let lastOwner = "";
  /** Whether owners that the last round could not list may wait for a lane. */
  let hasUnlisted = false;

  const countLanes = (owner: string) => counts.get(owner) ?? 0;

  function addToCount(owner: string, change: 1 | -1): void {
    const count = countLanes(owner) + change;
    if (count === 0) counts.delete(owner);
    else counts.set(owner, count);
  }

  async function runLane(webhook: DueWebhook, deliver: Deliver): Promise<void> {
    const { owner } = webhook;
    const end = elapsed() + LANE_TIME_MS;
    const isWanted = () => hasUnlisted || isLaneWanted(waiting, countLanes, owner);
    try {
      await deliver(webhook, () => elapsed() < end || !isWanted());
    } catch (error) {
      log.error("job.failed", { job: "deliver-webhooks", error: String(error) });
    }
  }

  function fillLanes(deliver: Deliver): void {
    while (lanes.size < MAX_LANES) {
      const next = findNextWebhook(waiting, countLanes);
      if (next === undefined) return;
      const { webhook_id, owner } = next;
      waiting.splice(waiting.indexOf(next), 1);
      lastOwner = owner;
      addToCount(owner, 1);
      const lane = runLane(next, deliver).then(() => {
        lanes.delete(webhook_id);
        addToCount(owner, -1);
        fillLanes(deliver);
      });
      lanes.set(webhook_id, lane);
    }
  }

  return {
    hasRoom: () =>
      lanes.size < MAX_LANES || !hasUnlisted || waiting.every(({ owner }) => countLanes(owner) > 0),
    lastOwner: () => lastOwner,
    begin({ due, isWhole }, deliver) {
      waiting = due.filter(({ webhook_id }) => !lanes.has(webhook_id));
      fillLanes(deliver);
      hasUnlisted = !isWhole && lanes.size === MAX_LANES;
    },
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
