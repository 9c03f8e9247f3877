import { sha256Hex } from "@agent/crypto";
import { eraseNestedTexts, eraseTexts } from "@agent/receipts";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import { hashOrderPrompt } from "../federation/inbound/hash-order-prompt.ts";
import { isResultPending } from "../federation/inbound/is-result-pending.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import { finishScrub, requestScrub } from "../identity/finish-scrub.ts";
import { isBeingInspected } from "../inspections/reading/find-readable.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { ReceiptRow, StoredTaskRow } from "../storage/tables/tasks.ts";
import {
  findReceipt,
  listReceiptsContaining,
  replaceReceiptBody,
} from "./receipts/receipt-store.ts";
import { replaceNotes } from "./events/event-store.ts";
import { findTask, replacePrompt } from "./store.ts";
import { isExpired } from "./task.ts";
import { parseArchivedReceipt } from "./receipts/parse-archived-receipt.ts";

interface EraseRequest {
  readonly taskId: string;
  readonly caller: Caller;
}

/**
 * Replaces the prompt, the result and the notes of a finished task with their hashes, everywhere in this
 * relay's database; only its submitter and the operator may do so. A submitter's erasure leaves the
 * receipts of other submitters' tasks unchanged, even if they contain the receipt of this task: those
 * submitters paid for them, and the erasure could destroy evidence against the one who requests it. The
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
    const copies = archived === undefined ? noCopies : await listCopies(tx, archived, caller);
    // The parties and their arbiter need the texts, also those of the work that a result contains.
    for (const { task_id } of [{ task_id: taskId }, ...copies.erasable]) {
      if (await isBeingInspected(tx, task_id)) {
        return refuse("task.not_finished", "its result is being inspected");
      }
    }
    const now = runtime.now();
    const before = task === undefined ? archived?.erased_at : task.erased_at;
    if (task !== undefined && before === null && !(await eraseTask(tx, task, now))) {
      return refuse("task.not_finished");
    }
    if (archived !== undefined) await eraseReceipt(tx, archived, copies.erasable, now);
    const copies_left = copies.all - copies.erasable.length;
    if (task?.submitted_by != null && before === null) {
      const change = { action: "task.texts_erased", detail: taskId } as const;
      await recordAudit(tx, now, caller, { agentId: task.submitted_by, ...change });
    }
    await requestScrub(tx);
    return { ok: true as const, erased_at: before ?? now, copies_left };
  });
  if (!erased.ok) return erased;
  // The write-ahead log still holds the pages as they were before.
  await finishScrub(storage);
  const { erased_at, copies_left } = erased;
  return { status: 200, body: { task_id: taskId, erased_at, copies_left } };
}

async function eraseTask(tx: Tx, task: StoredTaskRow, now: number): Promise<boolean> {
  const { task_id, prompt } = task;
  await hashOrderPrompt(tx, task);
  await replaceNotes(tx, task_id, sha256Hex);
  return replacePrompt(tx, { task_id, prompt: sha256Hex(prompt), now });
}

interface Copies {
  /** The number of all receipts that contain the one to erase. */
  readonly all: number;
  /** Those in which the caller may erase it. */
  readonly erasable: readonly ReceiptRow[];
}

const noCopies: Copies = { all: 0, erasable: [] };

async function listCopies(tx: Tx, { body }: ReceiptRow, caller: Caller): Promise<Copies> {
  const outer = await listReceiptsContaining(tx, parseArchivedReceipt(body).signature);
  const erasable = outer.filter(({ submitted_by }) => mayActFor(caller, [submitted_by]));
  return { all: outer.length, erasable };
}

/** Erases a receipt, and its copies in others. */
async function eraseReceipt(
  tx: Tx,
  { task_id, body }: ReceiptRow,
  copies: Copies["erasable"],
  now: number,
): Promise<void> {
  const receipt = parseArchivedReceipt(body);
  await replaceReceiptBody(tx, { task_id, body: JSON.stringify(eraseTexts(receipt)), now });
  for (const outer of copies) {
    const carrying = parseArchivedReceipt(outer.body);
    const without = JSON.stringify(eraseNestedTexts(carrying, receipt.signature));
    await replaceReceiptBody(tx, { task_id: outer.task_id, body: without, now });
  }
}
