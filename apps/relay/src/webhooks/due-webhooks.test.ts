import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { openMigrated } from "../../test/migrated-storage.ts";
import { createEgress } from "../http/egress/egress.ts";
import { createLog } from "../observability/log.ts";
import { migrations } from "../storage/migrations/index.ts";
import type { Storage } from "../storage/storage.ts";
import { deliverWebhooks } from "./deliver-webhooks.ts";
import {
  deleteWebhook,
  endWebhookTurn,
  insertDelivery,
  insertWebhook,
  listDueWebhooks,
  updateWebhookState,
} from "./store.ts";
import { loadSubscriptions } from "./subscriptions.ts";
import { createWebhookLanes } from "./webhook-lanes.ts";

const NOW = 1_000_000;

let storage: Storage;
beforeEach(async () => {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
});
afterEach(() => storage.close());

/** Inserts webhooks with a due delivery each; each is written as its owner and a number: `b2`. */
const insertDue = (webhookIds: readonly string[], owner = ownerOf) =>
  storage.transaction(async (tx) => {
    for (const webhook_id of webhookIds) {
      await insertWebhook(tx, {
        webhook_id,
        agent_id: owner(webhook_id),
        url: "http://127.0.0.1:1/",
        secret: "whsec_",
        events: "[]",
        state: "active",
        failures: 0,
        last_error: null,
        paused_until: 0,
        created_at: 0,
      });
      await insertMessage(tx, webhook_id, NOW);
    }
  });

const ownerOf = (webhook_id: string) => webhook_id.slice(0, 1);

const insertMessage = (
  tx: Parameters<typeof insertDelivery>[0],
  webhook_id: string,
  next_at: number,
) =>
  insertDelivery(tx, {
    delivery_id: `${webhook_id}-${next_at}`,
    webhook_id,
    body: "{}",
    attempt: 0,
    next_at,
    trace: null,
  });

const listIds = async (after = "", limit = 1_000) =>
  (await listDueWebhooks(storage.read, { now: NOW, after, limit })).map(
    ({ webhook_id }) => webhook_id,
  );

const setFailed = (webhook_id: string, paused_until: number) =>
  storage.transaction((tx) =>
    updateWebhookState(tx, {
      webhook_id,
      agent_id: ownerOf(webhook_id),
      state: "active",
      failures: 1,
      last_error: "answers 500",
      paused_until,
    }),
  );

test("H3: the first webhook of each owner is listed before the second one of any", async () => {
  await insertDue(["a1", "a2", "a3", "b4", "b5", "c6"]);
  expect(await listIds()).toEqual(["a1", "b4", "c6", "a2", "b5", "a3"]);
  expect(await listIds("", 4)).toEqual(["a1", "b4", "c6", "a2"]);
});

test("H3: a list of due webhooks begins after the owner that was served last", async () => {
  await insertDue(["a1", "a2", "b4", "c6", "c7"]);
  expect(await listIds("a")).toEqual(["b4", "c6", "a1", "c7", "a2"]);
  expect(await listIds("b")).toEqual(["c6", "a1", "b4", "c7", "a2"]);
  expect(await listIds("c")).toEqual(["a1", "b4", "c6", "a2", "c7"]);
});

test("H3: of one owner the webhook that had its turn last comes last, and before those that failed", async () => {
  await insertDue(["a1", "a2", "a3", "a4"]);
  await setFailed("a1", NOW - 1_000);
  const end = (webhook_id: string, now: number) =>
    storage.transaction((tx) => endWebhookTurn(tx, { webhook_id, now, taken: 0 }));
  await end("a3", NOW - 20);
  await end("a2", NOW - 10);
  expect(await listIds()).toEqual(["a4", "a3", "a2", "a1"]);
});

test("the end of a turn does not end a pause that a failure began", async () => {
  await insertDue(["a1"]);
  await setFailed("a1", NOW + 5_000);
  await storage.transaction((tx) =>
    endWebhookTurn(tx, { webhook_id: "a1", now: NOW, taken: NOW + 30_000 }),
  );
  expect(await listIds()).toEqual([]);
});

test("a webhook that pauses, or has no due delivery, is not listed", async () => {
  await insertDue(["a1", "a2"]);
  await setFailed("a1", NOW + 1);
  await storage.transaction((tx) => insertMessage(tx, "b3", NOW + 1));
  expect(await listIds()).toEqual(["a2"]);
});

test("a deleted webhook is listed as an owner of its own", async () => {
  await insertDue(["a1", "a2", "b3"]);
  await storage.transaction((tx) => deleteWebhook(tx, { webhook_id: "a2", agent_id: "a" }));
  expect(await listDueWebhooks(storage.read, { now: NOW, after: "", limit: 10 })).toEqual([
    { webhook_id: "a1", owner: "a" },
    { webhook_id: "a2", owner: "a2" },
    { webhook_id: "b3", owner: "b" },
  ]);
});

test("all deliveries of a deleted webhook are deleted in its first turn", async () => {
  await storage.transaction(async (tx) => {
    for (let made = 0; made < 3; made += 1) await insertMessage(tx, "a1", NOW - made);
  });
  const runtime = { ...createManualClock(NOW), ...createSeededRandom(1) };
  const log = createLog({ level: "error", write: { stdout() {}, stderr() {} }, now: runtime.now });
  const egress = createEgress({ privateEndpoints: "allow", baseUrl: undefined, ...runtime });
  const webhookLanes = createWebhookLanes(log, runtime.now);
  const subscriptions = await loadSubscriptions(storage.read);
  await deliverWebhooks({ storage, runtime, egress, subscriptions, log, webhookLanes });
  await webhookLanes.idle();
  expect(await listIds()).toEqual([]);
  await egress.close();
});

test("H3: 50 owners with 20 due webhooks each keep no other owner out of the list", async () => {
  const name = (at: number) => String(at).padStart(4, "0");
  await insertDue(
    Array.from({ length: 1_000 }, (_, at) => name(at)),
    (webhook_id) => `owner-${Math.floor(Number(webhook_id) / 20)}`,
  );
  await insertDue(["9999"], () => "owner-honest");
  expect((await listIds()).slice(0, 51)).toContain("9999");
});

test("H3: every one of 250 owners is listed in turn by lists of 100", async () => {
  const owners = Array.from({ length: 250 }, (_, at) => `owner-${at}`);
  await insertDue(owners, (webhook_id) => webhook_id);
  const seen = new Set<string>();
  let after = "";
  for (let round = 0; round < 3; round += 1) {
    const ids = await listIds(after, 100);
    for (const id of ids) seen.add(id);
    after = ids.at(-1) ?? "";
  }
  expect(seen.size).toBe(250);
});
