import { expect, test } from "vitest";
import { buildTestReceipt } from "../../testing/tools/test-receipt.ts";
import { endAttemptsWith } from "./end-attempts.ts";

function newStore(save: () => Promise<void> = async () => {}) {
  const ended: string[] = [];
  const store = endAttemptsWith(
    { load: async () => [], save, delete: async () => {} },
    { end: (taskId) => void ended.push(taskId) },
  );
  return { ended, store };
}

const pendingReceipt = { receipt: buildTestReceipt("t"), targetAgentId: undefined };

test("A20: the attempts at a task end when its receipt is on disk", async () => {
  const disk = Promise.withResolvers<void>();
  const { ended, store } = newStore(() => disk.promise);
  const saved = store.save(pendingReceipt);
  expect(ended).toEqual([]);
  disk.resolve();
  await saved;
  expect(ended).toEqual(["t"]);
});

test("A20: without a disk the attempts at a task end when the relay has decided about its receipt", async () => {
  const { ended, store } = newStore(() => Promise.reject(new Error("ENOSPC")));
  await expect(store.save(pendingReceipt)).rejects.toThrow("ENOSPC");
  expect(ended).toEqual([]);
  await store.delete("t");
  expect(ended).toEqual(["t"]);
});
