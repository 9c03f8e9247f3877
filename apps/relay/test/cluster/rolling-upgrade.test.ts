import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Migration } from "../../src/storage/database/migrate.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { onlyOn } from "../engine/engine.ts";
import { createLoadAgents, listMissing, requestJson, runLoad } from "../load.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { startMember, type Member } from "./start-cluster.ts";

/** Tables that each request reads, in some cases with all of their columns. */
const TABLES = ["tasks", "agents", "devices", "accounts", "trust_records", "presences", "webhooks"];

/** A schema step that only adds columns, so that the previous version still works. */
const expand: Migration = {
  id: "901-expand",
  sql: TABLES.map((table) => `ALTER TABLE ${table} ADD COLUMN colour TEXT;`).join("\n"),
  oldest: migrations.at(-1)?.id ?? "",
};

/** A later schema step, with which only versions from `expand` on can work. */
const contract: Migration = {
  id: "902-contract",
  sql: TABLES.map((table) => `ALTER TABLE ${table} DROP COLUMN colour;`).join("\n"),
  oldest: expand.id,
};

const expanded = [...migrations, expand];
const contracted = [...expanded, contract];

describe.runIf(onlyOn("postgres"))("rolling upgrades", () => {
  let databaseUrl: string;
  const running = new Set<Member>();
  beforeEach(async () => {
    databaseUrl = await openDatabaseOf(randomUUID());
  });
  afterEach(async () => {
    for (const member of running) await member.stop();
    running.clear();
  });

  async function start(steps: readonly Migration[]): Promise<Member> {
    const member = await startMember(databaseUrl, {}, { steps });
    running.add(member);
    return member;
  }

  async function stop(member: Member): Promise<void> {
    running.delete(member);
    await member.stop();
  }

  test("an upgrade loses nothing over a step that adds columns and a later one that removes them", async () => {
    const old = await start(migrations);
    const load = await createLoadAgents(old.url);
    let isOver = false;
    const counts = () => load.acknowledged.receipts.size;
    const grow = async () => {
      const before = counts();
      await expect.poll(counts, { timeout: 30_000 }).toBeGreaterThan(before + 20);
    };
    const working = [runLoad(old.url, load, () => isOver, 4)];
    await grow();

    const next = await start(expanded);
    working.push(runLoad(next.url, load, () => isOver, 4));
    await grow();
    const late = await start(migrations);
    await expect(start(contracted)).rejects.toThrow("database.locked");
    await grow();
    for (const each of [late, old]) await stop(each);
    await grow();

    const last = await start(contracted);
    working.push(runLoad(last.url, load, () => isOver, 4));
    await expect(start(migrations)).rejects.toThrow("database.newer");
    await grow();
    isOver = true;
    await Promise.all(working);
    for (const { url } of [next, last]) expect(await listMissing(url, load)).toEqual([]);
    const books = await requestJson(`${last.url}/api/v1/admin/reconciliation`, OPERATOR_TOKEN);
    expect(books.body).toMatchObject({ consistent: true });
  });
});
