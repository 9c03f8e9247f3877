import { asMicro, ZERO } from "@agent/budget";
import { createTrustRecord, setTrustLevel } from "@agent/routing-semiring";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTaskRow } from "../../../test/stored/task-row.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { queryBuilder, param, params, compile } from "../../storage/queries/compiled-query.ts";
import type { Storage, Tx } from "../../storage/storage.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import {
  listExecutorsWithPendingTasks,
  listPendingTaskIds,
  listPendingTasks,
  reassignTask,
} from "./assignment-store.ts";
import {
  cancelForwarded,
  claimPending,
  expireClaim,
  listExpiredClaims,
  releaseClaim,
  renewLeaseByProgress,
  renewLease,
  markCancelRequested,
} from "./claim-store.ts";
import { calculateClaimEnd } from "./claim-rules.ts";
import { findTask, insertTask } from "../store.ts";
import { toTrustRow } from "../../trust/levels.ts";
import { saveTrustRecord } from "../../trust/store.ts";

let storage: Storage;
beforeEach(async () => {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
});
afterEach(() => storage.close());

const row = (change: Partial<StoredTaskRow> = {}): StoredTaskRow =>
  createTaskRow({ task_id: "t", ...change });

const claimed = { status: "claimed", claimed_by: "device", lease_until: 100 } as const;
const fresh = { ...claimed, claimed_at: 50, worked_at: 50 } as const;
const claimTimes = compile<
  Pick<StoredTaskRow, "task_id" | "claimed_at" | "worked_at" | "cancel_requested_at">
>()(
  queryBuilder
    .updateTable("tasks")
    .set(params("claimed_at", "worked_at", "cancel_requested_at"))
    .where("task_id", "=", param("task_id")),
);
const put = (change?: Partial<StoredTaskRow>) =>
  storage.transaction(async (tx) => {
    await insertTask(tx, row(change));
    await tx.run(claimTimes, row(change));
  });

function blockedRecord(agentId: string) {
  const blocked = setTrustLevel(createTrustRecord(agentId, "target", 1), "blocked");
  if (!blocked.ok) throw new Error(blocked.code);
  return blocked.record;
}

type Change = (tx: Tx) => Promise<unknown>;

const claim =
  (change = {}): Change =>
  (tx) =>
    claimPending(tx, {
      task_id: "t",
      executor: "target",
      claimed_by: "device",
      lease_until: 100,
      now: 50,
      ...change,
    });
const renew =
  (claimed_by: string): Change =>
  (tx) =>
    renewLease(tx, { task_id: "t", claimed_by, now: 50 });
const release =
  (claimed_by: string): Change =>
  (tx) =>
    releaseClaim(tx, { task_id: "t", claimed_by, now: 50 });
const expire =
  (now: number): Change =>
  (tx) =>
    expireClaim(tx, "t", now);
const reassign =
  (from_attempt: number): Change =>
  (tx) =>
    reassignTask(tx, {
      task_id: "t",
      from_attempt,
      attempt: 1,
      assigned_to: "next",
      via_peer: null,
      charge: asMicro(5),
      now: 50,
    });

const free = { status: "pending", claimed_by: null, lease_until: null } as const;
const reassigned = { ...free, assigned_to: "next", attempt: 1, charge: asMicro(5) };

describe("a change to the claim of a task", () => {
  const cases: [string, Partial<StoredTaskRow>, Change, Partial<StoredTaskRow> | null][] = [
    ["a pending task is claimed", {}, claim(), fresh],
    [
      "a task is claimed by the executor it is assigned to",
      { assigned_to: "next" },
      claim({ executor: "next" }),
      fresh,
    ],
    ["an assigned task is not claimed by its target", { assigned_to: "next" }, claim(), null],
    ["a task is not claimed by another agent", {}, claim({ executor: "other" }), null],
    ["a task is not claimed twice", claimed, claim({ claimed_by: "second" }), null],
    ["an expired task is not claimed", {}, claim({ now: 1_000 }), null],
    ["a cancelled task is not claimed", { status: "cancelled", finished_at: 1 }, claim(), null],
    ["a finished task is not claimed", { status: "completed", finished_at: 1 }, claim(), null],
    ["a lease is renewed by its worker", claimed, renew("device"), { lease_until: 60_050 }],
    [
      "a lease is not renewed beyond the wall clock of its task",
      { ...fresh, wall_clock_ms: 20_000 },
      renew("device"),
      { lease_until: 20_050 },
    ],
    [
      "a lease is not renewed by presence once a cancel was requested, though the claim stays",
      { ...claimed, cancel_requested_at: 50 },
      renew("device"),
      {},
    ],
    ["a lease is not renewed by another device", claimed, renew("other"), null],
    ["a lease is not renewed without a claim", {}, renew("device"), null],
    ["a claim is released by its worker", claimed, release("device"), free],
    ["a claim is not released by another device", claimed, release("other"), null],
    [
      "a claim of a finished task is not released",
      { ...claimed, status: "failed" },
      release("device"),
      null,
    ],
    ["a claim expires with its lease", claimed, expire(100), free],
    ["a claim does not expire before its lease", claimed, expire(99), null],
    [
      "a claim of a finished task does not expire",
      { ...claimed, status: "completed" },
      expire(100),
      null,
    ],
    ["a pending task is reassigned", {}, reassign(0), reassigned],
    ["a task is not reassigned from an earlier attempt", { attempt: 1 }, reassign(0), null],
    ["a claimed task is not reassigned", claimed, reassign(0), null],
    ["a finished task is not reassigned", { status: "completed" }, reassign(0), null],
  ];
  test.each(cases)("%s: %j", async (_, before, change, after) => {
    await put(before);
    expect(Boolean(await storage.transaction(change))).toBe(after !== null);
    const task = await findTask(storage.read, "t");
    expect({ ...task, event_count: 0, first_claimed_at: null }).toMatchObject(
      row({ ...before, ...after }),
    );
  });
});

describe("the tasks that wait for an executor", () => {
  beforeEach(async () => {
    await put({ task_id: "1" });
    await put({ task_id: "2", assigned_to: "other" });
    await put({ task_id: "3", agent_id: "other", assigned_to: "target" });
    await put({ ...claimed, task_id: "4" });
    await put({ task_id: "5", status: "completed" });
    await put({ task_id: "6", expires_at: 50 });
    await put({ task_id: "7", required_capabilities: '["x"]' });
  });

  test("a task waits for its assigned executor, or else for its target, if it is pending and not expired", async () => {
    const query = { executor: "target", now: 50, limit: 10, after: "" };
    const tasks = await listPendingTasks(storage.read, query);
    expect(tasks.map(({ task_id }) => task_id)).toEqual(["1", "3", "7"]);
    expect(await listPendingTaskIds(storage.read, query)).toEqual([
      { task_id: "1", required_capabilities: "[]" },
      { task_id: "3", required_capabilities: "[]" },
      { task_id: "7", required_capabilities: '["x"]' },
    ]);
    const page = await listPendingTasks(storage.read, { ...query, after: "1", limit: 1 });
    expect(page.map(({ task_id }) => task_id)).toEqual(["3"]);
  });

  test("the list of executors with waiting tasks has every executor once", async () => {
    const awaited = await listExecutorsWithPendingTasks(storage.read, 50);
    expect(awaited).toHaveLength(2);
    expect(awaited).toEqual(
      expect.arrayContaining([{ executor: "other" }, { executor: "target" }]),
    );
  });

  test("a claim expires when its lease has ended", async () => {
    expect(await listExpiredClaims(storage.read, 99, 10)).toEqual([]);
    expect(await listExpiredClaims(storage.read, 100, 10)).toMatchObject([{ task_id: "4" }]);
  });
});

test("D24: a pending task cannot be claimed for an executor that its submitter has blocked", async () => {
  await put({ submitted_by: "payer" });
  const block = (agent_id: string) =>
    storage.transaction((tx) =>
      saveTrustRecord(tx, toTrustRow(blockedRecord(agent_id), { paid_tasks: 0, fees_kept: ZERO })),
    );
  await block("another");
  await storage.transaction(claim());
  expect((await findTask(storage.read, "t"))?.status).toBe("claimed");
  await storage.transaction(release("device"));
  await block("payer");
  expect(await storage.transaction(claim())).toBe(false);
  expect((await findTask(storage.read, "t"))?.status).toBe("pending");
});

describe("B2: the lease that is stored", () => {
  test.each([null, 40_000.5, 40_001.5, 100_000, 1e300])(
    "B2: the stored lease equals that of the rule after each step, with a wall clock of %j",
    async (wall_clock_ms) => {
      await put({ wall_clock_ms, expires_at: 1_000_000 });
      const claim = { task_id: "t", claimed_by: "device" };
      const times = { claimed_at: 1_000, last_sign_at: 1_000, wall_clock_ms };
      const begun = { ...times, cancel_requested_at: null };
      const lease_until = calculateClaimEnd(begun);
      await storage.transaction((tx) =>
        claimPending(tx, { ...claim, executor: "target", lease_until, now: 1_000 }),
      );
      const stored = async () => (await findTask(storage.read, "t"))?.lease_until;
      expect(await stored()).toBe(lease_until);
      await storage.transaction((tx) => renewLease(tx, { ...claim, now: 21_000 }));
      expect(await stored()).toBe(calculateClaimEnd({ ...begun, last_sign_at: 21_000 }));
      await storage.transaction((tx) => renewLeaseByProgress(tx, { ...claim, now: 22_000 }));
      const working = { ...begun, last_sign_at: 22_000 };
      expect(await stored()).toBe(calculateClaimEnd(working));
      await storage.transaction((tx) => markCancelRequested(tx, "t", 31_000));
      await storage.transaction((tx) => markCancelRequested(tx, "t", 32_000));
      await storage.transaction((tx) => renewLease(tx, { ...claim, now: 33_000 }));
      const asked = { ...working, cancel_requested_at: 31_000 };
      expect(await stored()).toBe(calculateClaimEnd(asked));
      await storage.transaction((tx) =>
        renewLeaseByProgress(tx, { ...claim, now: 36_000, note: "half" }),
      );
      expect(await stored()).toBe(calculateClaimEnd({ ...asked, last_sign_at: 36_000 }));
    },
  );

  test("B2: a cancel of an expired task cannot be requested", async () => {
    await put({ ...claimed, expires_at: 50 });
    const requested = await storage.transaction((tx) => markCancelRequested(tx, "t", 50));
    expect(requested).toBeUndefined();
    expect(await findTask(storage.read, "t")).toMatchObject({
      status: "claimed",
      cancel_requested_at: null,
    });
  });

  const forwarded = { ...claimed, claimed_by: "relay r", via_peer: "r" } as const;
  test.each<[string, Partial<StoredTaskRow>, "cancelled" | "claimed"]>([
    ["the peer that has it agrees to a request", { cancel_requested_at: 40 }, "cancelled"],
    ["the peer states that it ended there", { cancel_requested_at: null }, "cancelled"],
    [
      "another peer agrees",
      { cancel_requested_at: 40, claimed_by: "relay other", via_peer: "other" },
      "claimed",
    ],
    ["it has expired", { cancel_requested_at: 40, expires_at: 50 }, "claimed"],
  ])("B2: the outcome for a forwarded task when %s: %j leads to %s", async (_, change, status) => {
    await put({ ...forwarded, ...change });
    const agreed = { task_id: "t", claimed_by: "relay r", now: 50 };
    const ended = await storage.transaction((tx) => cancelForwarded(tx, agreed));
    expect(ended?.status ?? "claimed").toBe(status);
    expect((await findTask(storage.read, "t"))?.status).toBe(status);
  });

  test("B2: a request to cancel does not shorten the lease of a forwarded task", async () => {
    await put({
      ...claimed,
      claimed_by: "relay r",
      via_peer: "r",
      wall_clock_ms: 1,
      lease_until: 999,
    });
    await storage.transaction((tx) => markCancelRequested(tx, "t", 50));
    expect(await findTask(storage.read, "t")).toMatchObject({
      lease_until: 999,
      cancel_requested_at: 50,
    });
  });
});
