import { sha256Hex } from "@agent/crypto";
import type { Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { replacePromptOfOrder } from "./inbound-store.ts";
import { isFromPeer } from "../peer-ref.ts";

/** Replaces the prompt by its hash in the peer's signed order, which is stored with the task. */
export async function hashOrderPrompt(
  tx: Tx,
  task: Pick<TaskRow, "task_id" | "origin_peer" | "prompt">,
): Promise<void> {
  if (!isFromPeer(task)) return;
  await replacePromptOfOrder(tx, { task_id: task.task_id, prompt: sha256Hex(task.prompt) });
}
