import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "@agent/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { openBegunDelegations } from "./begun-delegations.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "begun-"));
});
afterAll(() => rm(folder, { recursive: true }));

const slot = { taskId: "t", requestHash: "a".repeat(64), ordinal: 0 };
const plan = { agentId: "worker", maxBudget: 2 };

function newFile(name: string, changes: object = {}) {
  const clock = createManualClock();
  const of = { path: join(folder, name), relayUrl: "http://relay", agentId: "me", ...changes };
  return { clock, open: () => openBegunDelegations(of, { now: clock.now, log: silentLog }) };
}

test("MN37: a delegation has the same key and plan after a restart, and another one has another key", async () => {
  const { open } = newFile("restart.json");
  const begun = await open();
  const { key } = begun.find(slot);
  await begun.keep(slot, plan);
  const restarted = await open();
  expect(restarted.find(slot)).toEqual({ key, plan });
  const others = [{ taskId: "u" }, { requestHash: "b".repeat(64) }, { ordinal: 1 }];
  const keys = others.map((change) => restarted.find({ ...slot, ...change }));
  expect(keys.map((found) => found.plan)).toEqual([undefined, undefined, undefined]);
  expect(new Set([key, ...keys.map((found) => found.key)]).size).toBe(4);
});

test.each([
  ["another relay", { relayUrl: "http://other" }],
  ["another agent", { agentId: "other" }],
])("a delegation is not continued by the plan of %s", async (_, changes) => {
  const begun = await newFile("moved.json").open();
  await begun.keep(slot, plan);
  expect((await newFile("moved.json", changes).open()).find(slot).plan).toBeUndefined();
  expect((await newFile("moved.json").open()).find(slot).plan).toEqual(plan);
});

test("MN37: without its file a delegation keeps its key, so that the relay accepts it once", async () => {
  const { key } = (await newFile("lost.json").open()).find(slot);
  expect((await newFile("other.json").open()).find(slot).key).toBe(key);
});

test("MN45: a plan without a maximum is the same after a restart, so that no price is read again", async () => {
  const { open } = newFile("no-maximum.json");
  const withoutMaximum = { agentId: "worker", maxBudget: null };
  await (await open()).keep(slot, withoutMaximum);
  expect((await open()).find(slot).plan).toEqual(withoutMaximum);
});

test("a delegation that will not be paid is ordered anew under another key, also after a restart", async () => {
  const { open } = newFile("void.json");
  const begun = await open();
  const { key } = begun.find(slot);
  await begun.keep(slot, plan);
  await begun.void(slot);
  const again = (await open()).find(slot);
  expect(again.plan).toBeUndefined();
  expect(again.key).not.toBe(key);
});

test("a delegation is left out once its task has a receipt, or the relay no longer knows its key", async () => {
  const { clock, open } = newFile("ended.json");
  const begun = await open();
  await begun.keep(slot, plan);
  await begun.keep({ ...slot, taskId: "u" }, plan);
  begun.end("t");
  expect(begun.find(slot).plan).toBeUndefined();
  await clock.advance(86_400_000);
  expect((await open()).find({ ...slot, taskId: "u" }).plan).toBeUndefined();
});
