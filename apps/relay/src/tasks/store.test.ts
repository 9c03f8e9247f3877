import { asMicro, ZERO } from "@agent/budget";
import { canEndTask, type EndedBy } from "@agent/federation-protocol/forwarding";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTaskRow } from "../../test/stored/task-row.ts";
import { peerClaimRef } from "../federation/peer-ref.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { markInvalidSignature, cancelPending, findTask, insertTask } from "./store.ts";
import { finishTask } from "./receipts/finish-store.ts";
import { deleteExpiredTask } from "./assignment/expired-task-store.ts";

let storage: Storage;
beforeEach(async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
});
afterEach(() => storage.close());

/** Returns whether a change applied to the task, and the task after it. */
async function tried(change: (tx: Tx) => Promise<unknown>, before: Partial<TaskRow>) {
  await storage.transaction((tx) => insertTask(tx, createTaskRow(before)));
  const done = await storage.transaction(change);
  const after = await findTask(storage.read, "task");
  return { done: done !== undefined && done !== false, after };
}

const registered: EndedBy = { kind: "receipt", isKeyRegistered: true };

const finish =
  (now: number, executor = "target", endedBy: EndedBy = registered) =>
  (tx: Tx) =>
    finishTask(
      tx,
      { task_id: "task", attempt: 0 },
      { status: "completed", receipt_hash: "hash", executor, endedBy, now },
    );

const ended = { status: "failed", receipt_hash: "earlier", finished_at: 5 } as const;

describe("a receipt ends a task", () => {
  test.each<[string, Partial<TaskRow>, string]>([
    ["that is pending", {}, "target"],
    ["that is claimed", { status: "claimed" }, "target"],
    ["of the executor that was assigned", { assigned_to: "executor" }, "executor"],
  ])("a receipt ends a task %s", async (_, before, executor) => {
    expect(await tried(finish(999, executor), before)).toMatchObject({
      done: true,
      after: { status: "completed", receipt_hash: "hash", finished_at: 999 },
    });
  });

  test.each<[string, Partial<TaskRow>, string, number]>([
    ["RC2 a finished task", ended, "target", 10],
    ["a cancelled task", { status: "cancelled", finished_at: 5 }, "target", 10],
    ["RC20 a task that expired while the receipt was verified", {}, "target", 1_000],
    ["a task that was reassigned meanwhile", { assigned_to: "executor" }, "target", 10],
    ["a target's task with another agent's receipt", {}, "executor", 10],
    ["a task at another attempt, so at another price", { attempt: 1 }, "target", 10],
  ])("%s is not ended by a receipt", async (_, before, executor, now) => {
    expect(await tried(finish(now, executor), before)).toMatchObject({
      done: false,
      after: createTaskRow(before),
    });
  });
});

describe("A1: the statement that finishes a task agrees with the rule", () => {
  const unregistered: EndedBy = { kind: "receipt", isKeyRegistered: false };
  const byPeer: EndedBy = { kind: "peer", relayId: "beta" };
  const byOther: EndedBy = { kind: "peer", relayId: "gamma" };
  const here = { status: "claimed", claimed_by: "device 1" } as const;
  const away = {
    status: "claimed",
    claimed_by: peerClaimRef("beta"),
    via_peer: "beta",
  } as const;
  const ways = { registered, unregistered, byPeer, byOther };
  const places = { "not claimed": {}, "claimed here": here, "with a peer": away };
  const cases = Object.entries(places).flatMap(([place, row]) =>
    [ZERO, asMicro(1)].flatMap((locked) =>
      Object.entries(ways).map(([way, endedBy]) => ({ place, row, locked, way, endedBy })),
    ),
  );

  test.each(cases)(
    "the statement and the rule agree on a task that is $place, with $locked held, when it is ended by $way",
    async ({ row, locked, endedBy }) => {
      const before = createTaskRow({ ...row, locked });
      const expected = canEndTask({ peerId: before.via_peer, locked }, endedBy);
      const { done, after } = await tried(finish(10, "target", endedBy), before);
      expect(done).toBe(expected);
      expect(after?.status).toBe(expected ? "completed" : before.status);
    },
  );

  test("the statement and the rule agree on a task that was forwarded to a peer after its row was read", async () => {
    expect(await tried(finish(10, "target", registered), away)).toMatchObject({
      done: false,
      after: createTaskRow(away),
    });
  });

  test("the statement and the rule agree on a task that no peer has accepted yet", async () => {
    const before = { via_peer: away.via_peer };
    expect(await tried(finish(10, "target", registered), before)).toMatchObject({
      done: false,
      after: createTaskRow(before),
    });
  });
});

describe("a cancellation ends a task", () => {
  const cancel = (now: number) => (tx: Tx) => cancelPending(tx, "task", now);

  test("a cancellation cancels a pending task", async () => {
    expect(await tried(cancel(999), {})).toMatchObject({
      done: true,
      after: { status: "cancelled", finished_at: 999 },
    });
  });

  test.each<[string, Partial<TaskRow>, number]>([
    ["that is claimed", { status: "claimed" }, 10],
    ["that is finished", ended, 10],
    ["whose time is over", {}, 1_000],
  ])("a cancellation does not cancel a task %s", async (_, before, now) => {
    expect(await tried(cancel(now), before)).toMatchObject({
      done: false,
      after: createTaskRow(before),
    });
  });
});

describe("the sweep removes a task", () => {
  const remove = (now: number) => (tx: Tx) => deleteExpiredTask(tx, "task", now);

  test.each(["pending", "claimed"] as const)(
    "the sweep removes a %s task when its time is over",
    async (status) => {
      expect(await tried(remove(1_000), { status })).toEqual({ done: true, after: undefined });
    },
  );

  test.each<[string, Partial<TaskRow>, number]>([
    ["that is finished", ended, 1_000],
    ["whose time is not over", {}, 999],
  ])("the sweep does not remove a task %s", async (_, before, now) => {
    expect(await tried(remove(now), before)).toMatchObject({
      done: false,
      after: createTaskRow(before),
    });
  });
});

describe("invalid signatures of executors", () => {
  const markInvalid = (tx: Tx) => markInvalidSignature(tx, "task");

  test.each<[string, Partial<TaskRow>, boolean]>([
    ["the first time", {}, true],
    ["only the first time", { blamed: 1 }, false],
    ["never for a finished task", ended, false],
  ])("an invalid signature is recorded %s", async (_, before, done) => {
    expect(await tried(markInvalid, before)).toMatchObject({ done });
  });
});
