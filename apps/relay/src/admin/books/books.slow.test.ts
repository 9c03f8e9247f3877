import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toEnginePlace } from "../../../test/engine/database-of-path.ts";
import { isWholeRun, onlyOn } from "../../../test/engine/engine.ts";
import { editStored } from "../../../test/engine/stored.ts";
import { createBuyer, submitAcceptedTask, createSeller, submitTask } from "../../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { commands } from "../../database-commands.ts";

const HOUR_MS = 3_600_000;
/** Whether a run on Postgres, whose statements are round trips, must be short. */
const isShort = onlyOn("postgres") && !isWholeRun;
const ADDRESS = "/api/v1/admin/reconciliation";

interface Books {
  readonly consistent: boolean;
  readonly checks: readonly { name: string; ok: boolean; count: number; ids: string[] }[];
}

let folder: string;
let path: string;
let t: TestRelay;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-books-"));
  path = join(folder, "relay.db");
  t = await startTestRelay({ AGENT_DB_PATH: path });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

/** Restarts the relay with its database changed by hand in between. */
async function edit(sql: string): Promise<void> {
  const { clock } = t;
  await t.close();
  await editStored(path, sql);
  t = await startTestRelay({ AGENT_DB_PATH: path }, 2, clock);
}

const failing = ({ checks }: Books) =>
  Object.fromEntries(checks.filter(({ ok }) => !ok).map(({ name, ids }) => [name, ids]));

const overHttp = async () => (await t.asOperator("GET", ADDRESS)).body as unknown as Books;

async function byCommand() {
  const { ok, text } = await commands["reconcile"]!.run({
    arguments: [],
    status: false,
    ...toEnginePlace(path),
    now: t.clock.now(),
    randomBytes: (length) => new Uint8Array(length),
  });
  return { ok, books: JSON.parse(text) as Books };
}

/** Reads the findings of the background job as Prometheus does. */
async function byMetric(): Promise<Record<string, number>> {
  await t.relay.tick();
  await t.relay.idle();
  const { text } = await t.asOperator("GET", "/metrics");
  const lines = text.matchAll(/^agent_relay_books_faults\{check="([^"]+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, check, count]) => [check, Number(count)]));
}

const readyLine = async () => {
  const { status, body } = await t.request("GET", "/health/ready");
  const checks = body["checks"] as { check: string; ok: boolean; detail: string }[];
  return { status, line: checks.find(({ check }) => check === "books") };
};

/** A settled task and an open one, with their parties. */
async function trade() {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  await submitAcceptedTask(t, boss, worker);
  return { boss, worker, task };
}

type Trade = Awaited<ReturnType<typeof trade>>;

const RESERVE = `INSERT INTO federation_outbound
    (task_id, relay_id, version, body, route, ended_at, payable)
  VALUES ('t', 'far', 1, '{"state": "void", "terms": {"net": 5}}', '[]', 1, 5);`;

const undecidedSince = (created: number) => `INSERT INTO x402_payments (proof_hash, payer_id,
    wallet, amount, payload, requirements, state, reason, created_at)
  VALUES ('proof-1', 'payer', 'w', 2000000, '{}', '{}', 'undecided', 'refused', ${created});`;

const edits: [string, (traded: Trade) => string, [string, string], (traded: Trade) => string][] = [
  [
    "a settlement record that differs from its postings",
    () => "UPDATE settlements SET net = net + 1, fee = fee - 1;",
    ["settlement_mismatch", "each settlement record agrees with its postings"],
    ({ task }) => task.task_id,
  ],
  [
    "a wrong held amount of an account",
    ({ boss }) => `UPDATE accounts SET held = held + 1 WHERE account = 'agent:${boss.agentId}';`,
    ["held_mismatch", "the held amount of each account is the sum of its tasks' holds"],
    ({ boss }) => `agent:${boss.agentId}`,
  ],
  [
    "a reserve of a peer for which nothing is open",
    () => RESERVE,
    ["reserve_leaked", "the amounts reserved for peers are those of their open tasks"],
    () => "far",
  ],
  [
    "a completed priced task without settlement or outbox entry",
    () => "DELETE FROM settlements;",
    ["task_unsettled", "each completed paid task is settled or due to be settled"],
    ({ task }) => task.task_id,
  ],
  [
    "an x402 payment that is undecided for an hour",
    () => undecidedSince(t.clock.now() - HOUR_MS),
    ["payment_undecided", "the outcome of each x402 payment is known within an hour"],
    () => "proof-1",
  ],
  [
    "a wrong balance",
    ({ worker }) => `UPDATE accounts SET balance = balance + 1
      WHERE account IN ('agent:${worker.agentId}', 'world') AND balance > 0;`,
    ["balance_mismatch", "each balance is the sum of its postings"],
    ({ worker }) => `agent:${worker.agentId}`,
  ],
];

/**
 * The most CPU time in ms that this thread spent in one turn of the event loop while `work` ran, and the
 */
async function watchTurns(work: () => Promise<unknown>) {
  let [longest, turns, done] = [0, 0, false];
  const running = work().finally(() => {
    done = true;
  });
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  for (let before = cpuMs(); !done; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await running;
  return { longest, turns };
}

describe("reconciliation", () => {
  test.each(edits)(
    "A7: reconciliation finds %s, over HTTP, by command and by metric",
    async (_, sql, [code, name], id) => {
      const traded = await trade();
      expect(failing(await overHttp())).toEqual({});
      await edit(sql(traded));
      expect(await byMetric()).toMatchObject({ [code]: 1 });
      expect(await readyLine()).toMatchObject({ status: 200, line: { ok: false } });
      expect(t.listLogged("books.inconsistent")).toContainEqual(
        expect.objectContaining({ level: "error", check: name, code, count: 1, ids: id(traded) }),
      );
      expect(failing(await overHttp())).toMatchObject({ [name]: [id(traded)] });
      const { ok, books } = await byCommand();
      expect(ok).toBe(false);
      expect(failing(books)).toMatchObject({ [name]: [id(traded)] });
    },
  );

  test("A7: reconciliation finds a changed posting and a settlement without postings", async () => {
    const { task, worker } = await trade();
    await edit(`UPDATE postings SET amount = amount + 1 WHERE account = 'agent:${worker.agentId}';
      UPDATE settlements SET postings = '[]';`);
    expect(failing(await overHttp())).toEqual({
      "each balance is the sum of its postings": [`agent:${worker.agentId}`],
      "each settlement record agrees with its postings": [task.task_id],
    });
  });

  test("A7: reconciliation finds no fault in an honest trade, or in a payment undecided for under an hour", async () => {
    await trade();
    await edit(undecidedSince(t.clock.now() - HOUR_MS + 1));
    expect(failing(await overHttp())).toEqual({});
    expect(await byCommand()).toMatchObject({ ok: true, books: { consistent: true } });
    expect(Object.values(await byMetric()).every((count) => count === 0)).toBe(true);
    expect(await readyLine()).toMatchObject({
      status: 200,
      line: { ok: true, detail: "consistent" },
    });
  });

  test("A7: reconciliation names at most 20 rows and counts all of them", async () => {
    await edit(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1201)
      INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
        SELECT 'agent:' || i, 0, 1, 0, 0 FROM n;`);
    const found = (await overHttp()).checks.find(({ ok }) => !ok);
    expect(found).toMatchObject({
      code: "held_mismatch",
      name: "the held amount of each account is the sum of its tasks' holds",
      count: 1201,
    });
    expect(found?.ids).toHaveLength(20);
  });

  test("A7: reconciliation checks new rows hourly and reports an old fault until it is corrected", async () => {
    const { boss, worker } = await trade();
    await edit("UPDATE settlements SET net = net + 1, fee = fee - 1;");
    const code = "settlement_mismatch";
    expect(await byMetric()).toMatchObject({ [code]: 1 });
    for (let i = 0; i < 3; i += 1) {
      await t.clock.advance(HOUR_MS);
      expect(await byMetric()).toMatchObject({ [code]: 1 });
    }
    await edit("UPDATE settlements SET net = net - 1, fee = fee + 1;");
    expect(await byMetric()).toMatchObject({ [code]: 0 });
    await t.clock.advance(HOUR_MS);
    const fresh = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${fresh.path}/result`, createReceipt(worker, fresh));
    // The relay is running, so this is a fault that arose after the last run.
    const fault = "UPDATE settlements SET fee = fee - 1, net = net + 1 WHERE task_id = ?";
    await editStored(path, fault, [fresh.task_id]);
    expect(await byMetric()).toMatchObject({ [code]: 1 });
  });

  test("A7: reconciliation checks the books by command while the relay is frozen", async () => {
    await trade();
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    expect(await overHttp()).toMatchObject({ consistent: true });
  });

  test("A7: reconciliation finds no fault in any of many runs under load", async () => {
    const [boss, worker] = [await createBuyer(t, 10_000), await createSeller(t, 2)];
    const work = async () => {
      const { body } = await submitTask(t, boss, worker);
      const task_id = body["task_id"] as string;
      const task = { task_id, prompt: "work", submitted_at: t.clock.now() };
      const at = `/agent/${worker.agentId}/task/${task_id}/result`;
      await t.as(worker, "POST", at, createReceipt(worker, task));
    };
    const found: object[] = [];
    for (let i = 0; i < (isShort ? 20 : 100); i += 1) {
      // Each run meets tasks that begin and end meanwhile.
      const [books] = await Promise.all([overHttp(), work(), work(), work()]);
      found.push(failing(books));
    }
    expect(found.filter((faults) => Object.keys(faults).length > 0)).toEqual([]);
    const { body } = await t.asOperator("GET", `/api/v1/agents/${boss.agentId}/settlements`);
    expect((body["settlements"] as unknown[]).length).toBeGreaterThan(10);
  });

  test("A7: reconciliation never blocks the event loop for long, and so never blocks the writer", async () => {
    const rows = isShort ? 4_000 : 20_000;
    await edit(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
        SELECT CASE i % 2 WHEN 1 THEN 'agent:' ELSE 'held:' END || i, 0, 0, 0, 2 FROM n;
      INSERT INTO postings (account, sequence, transaction_id, type, amount, balance_after, created_at)
        SELECT account, 1, 't', 'deposit', 5, 5, 1 FROM accounts;
      INSERT INTO postings (account, sequence, transaction_id, type, amount, balance_after, created_at)
        SELECT account, 2, 't', 'withdrawal', -5, 0, 1 FROM accounts;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO settlements (task_id, settlement_id, allocation_id, receipt_hash, amount_settled,
          fee, net, payer_id, payee_id, status, settled_at)
        SELECT i, i, i, 'h', 0, 0, 0, 'a', 'b', 'refunded', 1 FROM n;`);
    await overHttp();
    // The cost of the check itself recurs in every run; a garbage collection does not.
    const runs: { longest: number; turns: number }[] = [];
    for (let i = 0; i < 3; i += 1) runs.push(await watchTurns(overHttp));
    expect(Math.min(...runs.map(({ longest }) => longest))).toBeLessThan(20);
    expect(Math.min(...runs.map(({ turns }) => turns))).toBeGreaterThan(rows / 500);
  });
});
