import { afterEach, beforeEach, expect, test } from "vitest";
import Sqlite from "better-sqlite3";
import { onlyOn } from "../../test/engine/engine.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { migrate } from "../storage/database/migrate.ts";
import { migrations } from "../storage/migrations/index.ts";
import type { Storage } from "../storage/storage.ts";
import {
  deleteDeliveriesByWebhook,
  deleteDelivery,
  deleteWebhook,
  dueWebhooks,
  endWebhookTurn,
  findDueDelivery,
  insertDelivery,
  insertWebhook,
  listDueWebhooks,
  refreshNextDelivery,
  updateWebhookState,
} from "./store.ts";

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
        next_at: null,
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

test("H3: an owner's webhook that was served last is listed after its others, but before failed ones", async () => {
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

test("a webhook that is paused, or has no due delivery, is not listed", async () => {
  await insertDue(["a1", "a2"]);
  await setFailed("a1", NOW + 1);
  await storage.transaction((tx) => insertMessage(tx, "b3", NOW + 1));
  expect(await listIds()).toEqual(["a2"]);
});

test("a message to a deleted webhook is not stored, so that no message waits for ever", async () => {
  await insertDue(["a1"]);
  await storage.transaction(async (tx) => {
    await deleteWebhook(tx, { webhook_id: "a1", agent_id: "a" });
    await deleteDeliveriesByWebhook(tx, "a1");
    await insertMessage(tx, "a1", NOW);
  });
  expect(await findDueDelivery(storage.read, { webhook_id: "a1", now: NOW })).toBeUndefined();
});

test("a webhook is listed from the time of its earliest delivery on, whichever delivery was added first", async () => {
  await insertDue(["a1"]);
  await storage.transaction(async (tx) => {
    await deleteDelivery(tx, `a1-${NOW}`);
    for (const wait of [3, 1, 2]) await insertMessage(tx, "a1", NOW + wait);
    await refreshNextDelivery(tx, "a1");
  });
  const isListed = async (now: number) =>
    (await listDueWebhooks(storage.read, { now, after: "", limit: 10 })).length === 1;
  expect(await isListed(NOW)).toBe(false);
  expect(await isListed(NOW + 1)).toBe(true);
  await storage.transaction(async (tx) => {
    await deleteDelivery(tx, `a1-${NOW + 1}`);
    await endWebhookTurn(tx, { webhook_id: "a1", now: NOW, taken: 0 });
  });
  expect(await isListed(NOW + 1)).toBe(false);
  expect(await isListed(NOW + 2)).toBe(true);
  await storage.transaction((tx) => insertMessage(tx, "a1", NOW));
  expect(await isListed(NOW)).toBe(true);
});

test.runIf(onlyOn("sqlite"))(
  "H25: due webhooks are found in an index, without reading those that wait or are paused",
  () => {
    const memory = new Sqlite(":memory:");
    migrate(memory, migrations);
    const steps = memory
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${dueWebhooks.text}`)
      .all(...dueWebhooks.names.map(() => 0))
      .filter(({ detail }) => /^(SCAN|SEARCH) webhook/.test(detail));
    memory.close();
    expect(steps).toMatchObject([
      { detail: "SEARCH webhooks USING COVERING INDEX webhooks_due (<expr><?)" },
    ]);
  },
);

test("H3: 50 owners with 20 due webhooks each do not keep another owner out of the list", async () => {
  const name = (at: number) => String(at).padStart(4, "0");
  await insertDue(
    Array.from({ length: 1_000 }, (_, at) => name(at)),
    (webhook_id) => `owner-${Math.floor(Number(webhook_id) / 20)}`,
  );
  await insertDue(["9999"], () => "owner-honest");
  expect((await listIds()).slice(0, 51)).toContain("9999");
});

test("H3: lists of 100 webhooks list each of 250 owners in turn", async () => {
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
