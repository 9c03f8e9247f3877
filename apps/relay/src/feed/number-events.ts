import { asMicro, ZERO } from "@agent/budget";
import type { Services } from "../services.ts";
import { StorageFrozen, StorageUnavailable, type Tx } from "../storage/storage.ts";
import {
  hasQueuedEvents,
  listQueuedEvents,
  moveQueuedEvents,
  reserveSequences,
} from "./event-store.ts";
import { foldEvents, type MinuteChange } from "./fold-minutes.ts";
import { addDurations, type LatencyHistogram } from "./latency-histogram.ts";
import { addEndedTasks, findMinute, saveMinute } from "./minute-store.ts";

const BATCH_SIZE = 500;

export type FeedServices = Pick<Services, "storage" | "freezer">;

/**
 * Numbers the changes that were recorded so far, without gaps, and adds them to the figures of their
 * minutes. Also while the relay is frozen, but not once its database is damaged.
 */
export async function numberEvents({ storage, freezer }: FeedServices): Promise<void> {
  try {
    while (await hasQueuedEvents(storage.read)) {
      if ((await freezer.writeAlways(numberBatch)) < BATCH_SIZE) return;
    }
  } catch (error) {
    if (!(error instanceof StorageFrozen)) throw error;
  }
}

/**
 * Does so for a reader, to whom the events that have a number are worth more than none. False if the database
 * accepts no writes, as on a full disk: the newest events are then missing.
 */
export async function numberIfPossible(services: FeedServices): Promise<boolean> {
  try {
    await numberEvents(services);
    return true;
  } catch (error) {
    if (error instanceof StorageUnavailable) return false;
    throw error;
  }
}

async function numberBatch(tx: Tx): Promise<number> {
  const events = await listQueuedEvents(tx, BATCH_SIZE);
  const last = events.at(-1)?.place;
  if (last === undefined) return 0;
  const reserved = await reserveSequences(tx, events.length);
  await moveQueuedEvents(tx, { before: reserved - events.length, last });
  const { ended, minutes } = foldEvents(events);
  for (const [state, tasks] of ended) await addEndedTasks(tx, state, tasks);
  for (const [minute, change] of minutes) await addToMinute(tx, minute, change);
  return events.length;
}

const noFigures = {
  submitted: 0,
  completed: 0,
  failed: 0,
  expired: 0,
  settled: ZERO,
  fees: ZERO,
  online: null,
  durations: "{}",
};

/** Adds to the figures of a minute, and replaces its sample of agents that are online. */
export async function addToMinute(
  tx: Tx,
  minute: number,
  { durations, ...change }: Partial<MinuteChange> & { readonly online?: number },
): Promise<void> {
  const before = (await findMinute(tx, minute)) ?? { ...noFigures, minute };
  const histogram = JSON.parse(before.durations) as LatencyHistogram;
  await saveMinute(tx, {
    minute,
    submitted: before.submitted + (change.submitted ?? 0),
    completed: before.completed + (change.completed ?? 0),
    failed: before.failed + (change.failed ?? 0),
    expired: before.expired + (change.expired ?? 0),
    settled: asMicro(before.settled + (change.settled ?? 0)),
    fees: asMicro(before.fees + (change.fees ?? 0)),
    online: change.online ?? before.online,
    durations: JSON.stringify(addDurations(histogram, durations ?? [])),
  });
}
