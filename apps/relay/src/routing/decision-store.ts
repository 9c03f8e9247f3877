import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { RoutingDecisionRow } from "../storage/tables/routing.ts";

const addDecision = prepare<RoutingDecisionRow>()(
  db.insertInto("routing_decisions").values({ task_id: p("task_id"), record: p("record") }),
);

export async function insertDecision(tx: Tx, decision: RoutingDecisionRow): Promise<void> {
  await tx.run(addDecision, decision);
}

const decisionOf = prepare<{ task_id: string }>()(
  db.selectFrom("routing_decisions").selectAll().where("task_id", "=", p("task_id")),
);

export function findDecision(
  read: Reader,
  task_id: string,
): Promise<RoutingDecisionRow | undefined> {
  return read.get(decisionOf, { task_id });
}

const forget = prepare<{ before: string; limit: number }>()(
  sql<never>`
    delete from routing_decisions where task_id in (
      select task_id from routing_decisions
      where task_id < ${p("before")}
        and not exists (select 1 from tasks where tasks.task_id = routing_decisions.task_id)
      limit ${p("limit")})`,
);

/** Forgets decisions on tasks that are kept no more; ids grow with time. */
export function forgetDecisions(tx: Tx, old: { before: string; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
