import { sha256Hex } from "@agent/crypto";
import { eraseNestedTexts, eraseTexts, type ExecutionReceipt } from "@agent/receipts";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import { eraseOrder } from "../federation/inbound/erase-order.ts";
import { isResultPending } from "../federation/inbound/is-result-pending.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { ReceiptRow, StoredTaskRow } from "../storage/tables/tasks.ts";
import {
  findReceipt,
  listReceiptsContaining,
  replaceReceiptBody,
} from "./receipts/receipt-store.ts";
import { findTask, replaceTaskTexts } from "./store.ts";
import { isExpired } from "./task.ts";

interface EraseRequest {
  readonly taskId: string;
  readonly caller: Caller;
}

/**
 * Replaces the prompt, the result and the notes of a finished task by their hashes, everywhere in
 * this relay's database; only its submitter and the operator may. A submitter's erasure leaves the
 * receipts of other submitters' tasks as they are, even if they carry the receipt of this task:
 * those submitters paid for them, and the erasure could destroy evidence against its author. The
 * operator's erasure includes them.
 */
export async function eraseTaskTexts(
  { storage, runtime, freezer }: Pick<Services, "storage" | "runtime" | "freezer">,
  { taskId, caller }: EraseRequest,
): Promise<Answer<Operations["eraseTaskTexts"]>> {
  const erased = await storage.transaction(async (tx) => {
    const task = await findTask(tx, taskId);
    const archived = await findReceipt(tx, taskId);
    const isStored =
      task === undefined ? archived !== undefined : !isExpired(task, freezer.taskTime());
    // The submitter of a purged task is unknown, so only the operator may ask.
    if (!isStored || (task === undefined && !mayActFor(caller, [])))
      return refuse("task.not_found");
    if (task !== undefined && !mayActFor(caller, [task.submitted_by])) {
      return refuse("task.not_submitter");
    }
    if (await isResultPending(tx, taskId)) return refuse("task.not_finished");
    const now = runtime.now();
    const before = task === undefined ? archived?.erased_at : task.erased_at;
    if (task !== undefined && before === null && !(await eraseTask(tx, task, now))) {
      return refuse("task.not_finished");
    }
    const copies_left = archived === undefined ? 0 : await eraseReceipt(tx, archived, caller, now);
    if (task?.submitted_by != null && before === null) {
      const change = { action: "task.texts_erased", detail: taskId } as const;
      await recordAudit(tx, now, caller, { agentId: task.submitted_by, ...change });
    }
    return { ok: true as const, erased_at: before ?? now, copies_left };
  });
  if (!erased.ok) return erased;
  // The write-ahead log still holds the pages as they were before.
  await storage.scrub();
  const { erased_at, copies_left } = erased;
  return { status: 200, body: { task_id: taskId, erased_at, copies_left } };
}

async function eraseTask(tx: Tx, task: StoredTaskRow, now: number): Promise<boolean> {
  const { task_id, prompt, events } = task;
  await eraseOrder(tx, task);
  const recorded = JSON.parse(events) as { note?: string }[];
  const hashed = recorded.map((event) =>
    event.note === undefined ? event : { ...event, note: sha256Hex(event.note) },
  );
  const texts = { task_id, prompt: sha256Hex(prompt), events: JSON.stringify(hashed), now };
  return replaceTaskTexts(tx, texts);
}

/**
 * Erases a receipt and its copies in others as far as the caller may; returns the number of copies
 * left.
 */
async function eraseReceipt(
  tx: Tx,
  { task_id, body }: ReceiptRow,
  caller: Caller,
  now: number,
): Promise<number> {
  const receipt = JSON.parse(body) as ExecutionReceipt;
  const { signature } = receipt;
  await replaceReceiptBody(tx, { task_id, body: JSON.stringify(eraseTexts(receipt)), now });
  let remaining = 0;
  for (const outer of await listReceiptsContaining(tx, signature)) {
    if (!mayActFor(caller, [outer.submitted_by])) {
      remaining += 1;
      continue;
    }
    const carrying = JSON.parse(outer.body) as ExecutionReceipt;
    const without = JSON.stringify(eraseNestedTexts(carrying, signature));
    await replaceReceiptBody(tx, { task_id: outer.task_id, body: without, now });
  }
  return remaining;
}
