import { asMicro, EXTERNAL_ACCOUNT } from "@agent/budget";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAgentRow } from "../agents/bootstrap-agent.ts";
import { saveAgent, updateLastSeen } from "../agents/store.ts";
import { postMovement } from "../budget/post-movement.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import { insertIdempotencyKey } from "../http/server/idempotency-store.ts";
import { countEntries, insertEntry } from "../log/entries/entry-store.ts";
import { compile, sql } from "./queries/compiled-query.ts";
import { migrations } from "./migrations/index.ts";
import type { Isolation, Storage, Tx } from "./storage.ts";
import type { TaskRow } from "./tables/tasks.ts";
import { archiveReceipt } from "../tasks/receipts/receipt-store.ts";
import { finishTask } from "../tasks/receipts/finish-store.ts";
import { insertTask } from "../tasks/store.ts";
import { decrementOpenTasks, incrementOpenTasks } from "../tasks/submission/task-quota-store.ts";
import { findTrustPair } from "../trust/pair-store.ts";
import { saveTrustChange } from "../trust/save-trust-change.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { createTaskRow } from "../../test/stored/task-row.ts";

const NOW = 1_700_000_000_000;
const AGENTS = ["a", "b", "c"] as const;

/** A part of a transaction, with its result. */
type Step = (tx: Tx) => Promise<unknown>;

/** The end of a transaction after its steps. */
type End = "accepted" | "refused" | "thrown";

interface Job {
  readonly steps: readonly { readonly name: string; readonly run: Step }[];
  readonly end: End;
}

let drawn = 0;
const runtime = {
  now: () => NOW,
  // The ids of postings are not compared, because a transaction may run several times.
  randomBytes: (length: number) => new Uint8Array(length).fill((drawn += 1) % 256),
};

const agent = fc.constantFrom(...AGENTS);
const amount = fc.integer({ min: 1, max: 60 });
const taskId = fc.constantFrom("t1", "t2", "t3");

const step = (name: string, run: Step) => ({ name, run });

const move = fc.tuple(agent, agent, amount).map(([from, to, micro]) =>
  step(`move ${micro} from ${from} to ${to}`, async (tx) => {
    if (from === to) return undefined;
    const moved = await postMovement(
      tx,
      runtime,
      [
        { account: `agent:${from}`, type: "settlement_debit", amount: asMicro(-micro) },
        { account: `agent:${to}`, type: "settlement_credit", amount: asMicro(micro) },
      ],
      { reference: null, description: null },
    );
    return moved.ok ? moved.rows : moved.code;
  }),
);

const count = fc
  .tuple(agent, fc.integer({ min: 0, max: 3 }), fc.boolean())
  .map(([scope, cap, up]) =>
    step(`count ${scope} ${up ? `up to ${cap}` : "down"}`, (tx) =>
      up ? incrementOpenTasks(tx, scope, cap) : decrementOpenTasks(tx, scope),
    ),
  );

/** Everything that must be escaped in an array of texts. */
const text = fc.string({
  unit: fc.constantFrom("\0", "\u0001", '"', "\\", "{", "}", ",", "NULL", " "),
});

const submit = fc.tuple(taskId, agent, text).map(([task_id, agent_id, prompt]) =>
  step(`submit ${task_id}`, async (tx) => {
    const row: TaskRow = {
      ...createTaskRow({ prompt, wall_clock_ms: 0.1 }),
      task_id,
      agent_id,
      submitted_at: NOW,
    };
    await insertTask(tx, { ...row, status: "pending", expires_at: NOW + 10, attempt: 0 });
  }),
);

const finish = fc
  .record({
    task_id: taskId,
    executor: agent,
    attempt: fc.constantFrom(0, 0, 1),
    now: fc.constantFrom(NOW, NOW + 10),
    isKeyRegistered: fc.boolean(),
  })
  .map(({ task_id, executor, attempt, now, isKeyRegistered }) =>
    step(`finish ${task_id} by ${executor}`, (tx) =>
      finishTask(
        tx,
        { task_id, attempt },
        {
          status: "completed",
          receipt_hash: "hash",
          executor,
          endedBy: { kind: "receipt", isKeyRegistered },
          now,
        },
      ),
    ),
  );

const archive = fc
  .tuple(taskId, text)
  .map(([task_id, body]) =>
    step(`archive ${task_id}`, (tx) =>
      archiveReceipt(tx, { task_id, receipt_hash: "h", agent_id: "a", body, received_at: NOW }, []),
    ),
  );

const record = fc.nat(9).map((value) =>
  step(`record ${value}`, async (tx) => {
    await recordRelayEvent(tx, { at: NOW, type: "task.submitted" }, { value });
    await insertEntry(tx, new Uint8Array([value, 0, 255]));
  }),
);

const keep = fc
  .tuple(fc.constantFrom("k1", "k2"), fc.integer({ min: 0, max: 3 }), fc.nat(3))
  .map(([key, since, created_at]) =>
    step(`keep ${key} of ${created_at}, expired at ${since}`, (tx) =>
      insertIdempotencyKey(
        tx,
        { scope: "s", key, request_hash: "r", status: 201, body: "{}", created_at },
        since,
      ),
    ),
  );

const see = fc
  .tuple(agent, fc.integer({ min: 0, max: 90_000 }))
  .map(([agent_id, later]) =>
    step(`see ${agent_id}`, (tx) => updateLastSeen(tx, agent_id, NOW + later)),
  );

const trust = fc.tuple(agent, agent, fc.nat(50)).map(([payer, executor, fee]) =>
  step(`trust ${executor} by ${payer}`, async (tx) => {
    if (payer === executor) return undefined;
    const before = await findTrustPair(tx, payer, executor);
    const stored = before.record;
    await saveTrustChange(tx, {
      before,
      record: {
        agent_id: payer,
        remote_agent_id: executor,
        trust_level: 1,
        first_seen_at: NOW,
        last_seen_at: NOW + fee,
        interaction_count: (stored?.interaction_count ?? 0) + 1,
        successful_tasks: 1,
        failed_tasks: 0,
        paid_tasks: (stored?.paid_tasks ?? 0) + 1,
        fees_kept: asMicro((stored?.fees_kept ?? 0) + fee),
        avg_latency_ms: null,
      },
    });
    return before.payerFees;
  }),
);

const job: fc.Arbitrary<Job> = fc.record({
  steps: fc.array(fc.oneof(move, count, submit, finish, archive, record, keep, see, trust), {
    minLength: 1,
    maxLength: 4,
  }),
  end: fc.constantFrom<End>("accepted", "accepted", "accepted", "refused", "thrown"),
});

async function run({ steps, end }: Job, tx: Tx) {
  const answers: unknown[] = [];
  for (const each of steps) answers.push([each.name, await each.run(tx)]);
  if (end === "thrown") throw new Error("thrown at the end");
  return { ok: end === "accepted", answers };
}

/** Tables whose rows are compared, without the columns that differ in each run. */
const TABLES = {
  accounts: "*",
  postings: "account, sequence, type, amount, balance_after, reference_id, description, created_at",
  task_counters: "*",
  tasks:
    "task_id, agent_id, prompt, wall_clock_ms, status, receipt_hash, finished_at, bring_at, attempt",
  receipts: "task_id, receipt_hash, agent_id, body, received_at",
  event_queue: "at, type, peer_id, body",
  log_entries: "*",
  idempotency_keys: "*",
  agents: "agent_id, last_seen_at, unreachable_at, place",
  trust_records: "*",
  agent_histories: "*",
};

const dumps = Object.entries(TABLES).map(([table, columns]) => ({
  table,
  rows: compile()(
    sql<Record<string, unknown>>`select ${sql.raw(columns)} from ${sql.raw(table)}
      ${sql.raw(table === "event_queue" ? "order by rowid" : "order by 1, 2")}`,
  ),
}));

async function dump({ read }: Storage) {
  const tables = dumps.map(async ({ table, rows }) => [table, await read.all(rows, {})]);
  return Object.fromEntries(await Promise.all(tables)) as Record<string, unknown>;
}

async function prepare(): Promise<Storage> {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.detail);
  await opened.storage.transaction(async (tx) => {
    for (const agent_id of AGENTS) {
      await saveAgent(tx, {
        ...createAgentRow(agent_id, NOW),
        registered: 1,
        unreachable_at: agent_id === "b" ? NOW : null,
      });
    }
    await postMovement(
      tx,
      runtime,
      [
        { account: EXTERNAL_ACCOUNT, type: "deposit", amount: asMicro(-100) },
        { account: "agent:a", type: "deposit", amount: asMicro(100) },
      ],
      { reference: null, description: null },
    );
  });
  return opened.storage;
}

/** Runs jobs that begin together, and returns how each ended and what is stored then. */
async function runAll(jobs: readonly Job[], isolation: Isolation, isAtOnce: boolean) {
  const storage = await prepare();
  const ends: unknown[] = [];
  const start = async (each: Job, at: number) => {
    const [end] = await Promise.allSettled([storage.transaction((tx) => run(each, tx), isolation)]);
    // A transaction that is refused at its end need not have noticed that a key was taken.
    ends[at] = end.status === "fulfilled" && end.value.ok ? end.value : "not accepted";
  };
  if (isAtOnce) await Promise.all(jobs.map(start));
  else for (const [at, each] of jobs.entries()) await start(each, at);
  const stored = await dump(storage);
  await storage.close();
  return { ends, stored };
}

/** 10,000 by `AGENT_TEST_TOGETHER=10000`. */
const RUNS = Number(process.env["AGENT_TEST_TOGETHER"] ?? 40);

test(
  "transactions that are decided together have the same results as one by one",
  { timeout: 3_600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 12 }), async (jobs) => {
        const together = await runAll(jobs, "together", true);
        const oneByOne = await runAll(jobs, "serializable", false);
        expect(together).toEqual(oneByOne);
      }),
      { numRuns: RUNS },
    );
  },
);

const foreign = compile()(sql<{ one: number }>`select 1 as one`);

test("a transaction with another kind of statement sees and keeps what earlier ones have written", async () => {
  const storage = await prepare();
  const add = (tx: Tx) => recordRelayEvent(tx, { at: NOW, type: "task.submitted" }, {});
  const seen = await Promise.all([
    storage.transaction(add, "together"),
    storage.transaction(async (tx) => {
      await add(tx);
      await insertEntry(tx, new Uint8Array([1]));
      await tx.get(foreign, {});
      return countEntries(tx);
    }, "together"),
    storage.transaction((tx) => insertEntry(tx, new Uint8Array([2])), "together"),
  ]);
  expect(seen[1]).toBe(2);
  expect(
    await storage.read.all(dumps.find(({ table }) => table === "event_queue")!.rows, {}),
  ).toHaveLength(2);
  await storage.close();
});
