import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { migrate } from "../database/migrate.ts";
import { trustFees } from "./038-trust-fees.ts";
import { migrations } from "./index.ts";

function createOldDatabase() {
  const db = new Sqlite(":memory:");
  migrate(db, migrations.slice(0, migrations.indexOf(trustFees)));
  return db;
}

test("the fees of completed settlements are summed per pair, executor and payer", () => {
  const db = createOldDatabase();
  const settle = db.prepare(
    `INSERT INTO settlements (task_id, settlement_id, allocation_id, receipt_hash, amount_settled, fee,
       net, payer_id, payee_id, status, settled_at) VALUES (?, ?, 'h', 'r', 0, ?, 0, ?, ?, ?, 0)`,
  );
  const add = (id: string, fee: number, payer: string, payee: string, status = "completed") =>
    settle.run(id, id, fee, payer, payee, status);
  add("1", 100, "boss", "worker");
  add("2", 50, "boss", "worker");
  add("3", 7, "boss", "other");
  add("4", 1_000, "boss", "worker", "partial");
  add("5", 30, "relay:beta", "worker");
  const trust = db.prepare(
    `INSERT INTO trust_records (agent_id, remote_agent_id, trust_level, first_seen_at, last_seen_at,
       interaction_count, successful_tasks, failed_tasks, paid_tasks) VALUES (?, ?, 2, 0, 0, 1, 1, 0, 1)`,
  );
  for (const [payer, payee] of [
    ["boss", "worker"],
    ["boss", "other"],
    ["relay:beta", "worker"],
    ["friend", "worker"],
  ]) {
    trust.run(payer, payee);
  }
  db.prepare(
    "INSERT INTO agent_histories (agent_id, successful_tasks, failed_tasks, latency_total_ms) VALUES ('worker', 4, 0, 9)",
  ).run();
  migrate(db, migrations);
  const pairs = db.prepare(
    "SELECT agent_id, remote_agent_id, fees_kept FROM trust_records ORDER BY 1, 2",
  );
  expect(pairs.raw().all()).toEqual([
    ["boss", "other", 7],
    ["boss", "worker", 150],
    ["friend", "worker", 0],
    ["relay:beta", "worker", 30],
  ]);
  const histories = db.prepare(
    "SELECT agent_id, successful_tasks, fees_kept, fees_paid FROM agent_histories ORDER BY 1",
  );
  expect(histories.raw().all()).toEqual([
    ["boss", 0, 0, 157],
    ["relay:beta", 0, 0, 30],
    ["worker", 4, 180, 0],
  ]);
});

test("agents of older databases that share a key are put into one group", () => {
  const db = createOldDatabase();
  const bind = db.prepare(
    "INSERT INTO agent_keys (agent_id, public_key, valid_from) VALUES (?, ?, 0)",
  );
  for (const [agent, key] of [
    ["a", "k1"],
    ["b", "k1"],
    ["b", "k2"],
    ["c", "k2"],
    ["alone", "k3"],
  ]) {
    bind.run(agent, key);
  }
  migrate(db, migrations);
  const groups = db.prepare("SELECT agent_id, group_id FROM key_sharers ORDER BY 1");
  expect(groups.raw().all()).toEqual([
    ["a", "a"],
    ["b", "a"],
    ["c", "a"],
  ]);
});
