import type { Reader, Storage, Tx } from "../../storage/storage.ts";
import { insertTaskEvent, type NewTaskEvent } from "./event-store.ts";
import { findOldEvents, listTasksWithOldEvents, replaceOldEvents } from "./old-events-store.ts";

const MAX_BATCH_TASKS = 1_000;
const MAX_BATCH_CHARACTERS = 4_194_304;

/**
 * Moves the events that older versions stored as a list in each task into rows, before the relay serves.
 * Each batch is a transaction of bounded size, and a start after a crash continues with the rest.
 */
export async function moveOldEvents(storage: Pick<Storage, "read" | "transaction">): Promise<void> {
  for (;;) {
    const batch = await listBatch(storage.read);
    if (batch.length === 0) return;
    await storage.transaction(async (tx) => {
      for (const task_id of batch) await moveEventsOfTask(tx, task_id);
    });
  }
}

async function listBatch(read: Reader): Promise<string[]> {
  let left = MAX_BATCH_CHARACTERS;
  const batch: string[] = [];
  for (const { task_id, characters } of await listTasksWithOldEvents(read, MAX_BATCH_TASKS)) {
    left -= characters;
    if (left < 0 && batch.length > 0) break;
    batch.push(task_id);
  }
  return batch;
}

async function moveEventsOfTask(tx: Tx, task_id: string): Promise<void> {
  const events = JSON.parse(await findOldEvents(tx, task_id)) as NewTaskEvent[];
  // Another process that started at the same time has moved them.
  if (events.length === 0) return;
  const [first] = events;
  const first_claimed_at = first?.type === "claimed" ? first.at : null;
  let note_bytes = 0;
  for (const [index, event] of events.entries()) {
    note_bytes += Buffer.byteLength(event.note ?? "");
    if (index === 0 && first_claimed_at !== null) continue;
    await insertTaskEvent(tx, { task_id, event_count: index + 1 }, event);
  }
  await replaceOldEvents(tx, { task_id, event_count: events.length, note_bytes, first_claimed_at });
}
