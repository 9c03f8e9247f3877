import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { LedgerRow } from "../storage/tables/ledger.ts";

type Goal = Pick<LedgerRow, "agent_id" | "goal_id">;

const ledgerOfGoal = prepare<Goal>()(
  db
    .selectFrom("ledgers")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("goal_id", "=", p("goal_id")),
);

export function findLedger(read: Reader, goal: Goal): Promise<LedgerRow | undefined> {
  return read.get(ledgerOfGoal, goal);
}

/** What a settlement needs of a ledger, which can be long. */
export type LedgerCount = Pick<LedgerRow, "content_hash" | "steps_completed" | "steps_total">;

const countOfGoal = prepare<Goal>()(
  db
    .selectFrom("ledgers")
    .select(["content_hash", "steps_completed", "steps_total"])
    .where("agent_id", "=", p("agent_id"))
    .where("goal_id", "=", p("goal_id")),
);

export function findLedgerCount(read: Reader, goal: Goal): Promise<LedgerCount | undefined> {
  return read.get(countOfGoal, goal);
}

const addLedger = prepare<LedgerRow>()(
  db
    .insertInto("ledgers")
    .values({
      agent_id: p("agent_id"),
      goal_id: p("goal_id"),
      content_hash: p("content_hash"),
      body: p("body"),
      steps_completed: p("steps_completed"),
      steps_total: p("steps_total"),
      stored_at: p("stored_at"),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** False when the agent's goal has a ledger. */
export async function insertLedger(tx: Tx, ledger: LedgerRow): Promise<boolean> {
  return (await tx.run(addLedger, ledger)) === 1;
}

const replace = prepare<LedgerRow & { older: string }>()(
  db
    .updateTable("ledgers")
    .set({
      content_hash: p("content_hash"),
      body: p("body"),
      steps_completed: p("steps_completed"),
      steps_total: p("steps_total"),
      stored_at: p("stored_at"),
    })
    .where("agent_id", "=", p("agent_id"))
    .where("goal_id", "=", p("goal_id"))
    .where("content_hash", "=", p("older")),
);

/** Puts a ledger in the place of the one that it extends; false when that one is there no more. */
export async function replaceLedger(tx: Tx, ledger: LedgerRow, older: string): Promise<boolean> {
  return (await tx.run(replace, { ...ledger, older })) === 1;
}
