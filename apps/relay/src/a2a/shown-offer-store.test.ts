import { randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { systemRuntime } from "../../test/processes/system-runtime.ts";
import type { FreezeState } from "../admin/freeze.ts";
import { anonymousCaller, operatorCaller, type Caller } from "../identity/caller.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openStorage } from "../storage/open-storage.ts";
import type { Storage } from "../storage/storage.ts";
import { createSharedOffers, deleteOldOffers } from "./shown-offer-store.ts";

const offerAt = (unit_cost: number) => ({
  capabilities: ["a"],
  pricing: [{ capability: "a", unit_cost }],
});
const by = (caller: Caller, address = "192.0.2.1") => ({ caller, clientIp: () => address });
const DAY_MS = 86_400_000;

describe.runIf(onlyOn("postgres"))("A12: the offers that any process showed", () => {
  let url: string;
  let now = 1_800_000_000_000;
  let frozen: FreezeState | undefined;
  const freezer = { frozen: () => frozen };
  const opened: Storage[] = [];
  beforeEach(async () => {
    url = await openDatabaseOf(randomUUID());
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  async function openProcess() {
    const result = await openStorage({ url, migrations, poolSize: 2, shared: systemRuntime });
    if (!result.ok) throw new Error(result.detail);
    const { storage } = result;
    opened.push(storage);
    return { storage, offers: createSharedOffers(storage, freezer, () => now) };
  }

  const stored = () => runStatement(url, "SELECT reader, forget_at FROM shown_offers");

  test("A12: a process finds the newest offer that any process showed to the token, else to its address", async () => {
    const [a, b] = [await openProcess(), await openProcess()];
    const worker = randomUUID();
    await a.offers.record(by(anonymousCaller), worker, offerAt(1));
    expect(await b.offers.latest(by(operatorCaller), worker)).toEqual(offerAt(1));
    await b.offers.record(by(operatorCaller), worker, offerAt(2));
    await a.offers.record(by(anonymousCaller), worker, offerAt(3));
    expect(await a.offers.latest(by(operatorCaller), worker)).toEqual(offerAt(2));
    expect(await b.offers.latest(by(anonymousCaller), worker)).toEqual(offerAt(3));
    expect(await b.offers.latest(by(anonymousCaller, "192.0.2.2"), worker)).toBeUndefined();
    expect(await b.offers.latest(by(operatorCaller), randomUUID())).toBeUndefined();
  });

  test("A12: an offer counts for a day, and is not stored again when it is shown again within a minute", async () => {
    const { storage, offers } = await openProcess();
    const reader = by(operatorCaller);
    await offers.record(reader, "worker", offerAt(1));
    const [first] = await stored();
    now += 60_000;
    await offers.record(reader, "worker", offerAt(1));
    expect(await stored()).toEqual([first]);
    now += 1;
    await offers.record(reader, "worker", offerAt(1));
    expect(await stored()).toEqual([{ ...first, forget_at: now + DAY_MS }]);
    now += DAY_MS - 1;
    await storage.transaction((tx) => deleteOldOffers(tx, now));
    expect(await offers.latest(reader, "worker")).toEqual(offerAt(1));
    now += 1;
    expect(await offers.latest(reader, "worker")).toBeUndefined();
    await storage.transaction((tx) => deleteOldOffers(tx, now));
    expect(await stored()).toEqual([]);
  });

  test("A12: a reader of many cards keeps the newest 50 offers and displaces no offer of another reader", async () => {
    const { storage } = await openProcess();
    const offers = (reader: string, count: number, at: number) =>
      runStatement(
        url,
        `INSERT INTO shown_offers SELECT ${reader}, 'worker ' || i, '{}', ${now + at} + i
         FROM generate_series(1, ${count}) AS i`,
      );
    await offers("'honest'", 1, 0);
    await offers("'greedy'", 50_100, 100);
    await storage.transaction((tx) => deleteOldOffers(tx, now));
    const listed = `SELECT reader, count(*) AS count, min(forget_at) AS oldest
      FROM shown_offers GROUP BY reader ORDER BY reader DESC`;
    expect(await runStatement(url, listed)).toEqual([
      { reader: "honest", count: 1, oldest: now + 1 },
      { reader: "greedy", count: 50, oldest: now + 100 + 50_051 },
    ]);
    await offers("'reader ' || i / 50", 50_000, 100_000);
    await storage.transaction((tx) => deleteOldOffers(tx, now));
    expect(await runStatement(url, "SELECT count(*) AS count FROM shown_offers")).toEqual([
      { count: 50_000 },
    ]);
  });

  test("A12: a frozen relay stores no offer", async () => {
    const { offers } = await openProcess();
    frozen = { since: now, reason: "an audit", restored: false, damaged: false, by: null };
    await offers.record(by(operatorCaller), "worker", offerAt(1));
    expect(await stored()).toEqual([]);
    frozen = undefined;
    await offers.record(by(operatorCaller), "worker", offerAt(1));
    expect(await stored()).toHaveLength(1);
  });
});
