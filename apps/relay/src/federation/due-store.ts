import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import { skipLocked } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";

/** Longer than any call to a peer; after that another process may process what this one has claimed. */
const VISIBILITY_MS = 60_000;

/** A row that is due, and the trace of the request that made it. */
interface DueRow {
  readonly id: string;
  readonly trace: string | null;
}

interface Take {
  readonly now: number;
  readonly until: number;
  readonly limit: number;
}

type DueTable = "federation_outbound" | "federation_inbound" | "federation_outbox";

const listDue = (table: DueTable, key: string) =>
  compile<Omit<Take, "until">>()(
    sql<DueRow>`
      select ${sql.ref(key)} as id, trace from ${sql.table(table)}
      where due_at is not null and due_at <= ${param("now")}
      order by due_at limit ${param("limit")}`,
  );

const dueOutbound = listDue("federation_outbound", "task_id");
const dueInbound = listDue("federation_inbound", "task_id");
const dueOutbox = listDue("federation_outbox", "settlement_id");

const takeDue = (table: DueTable, key: string) =>
  compile<Take>()(
    sql<DueRow>`
      update ${sql.table(table)} set due_at = ${param("until")}
      where ${sql.ref(key)} in (
        select ${sql.ref(key)} from ${sql.table(table)}
        where due_at is not null and due_at <= ${param("now")}
        order by due_at limit ${param("limit")} ${skipLocked})
      returning ${sql.ref(key)} as id, trace`,
  );

const takeOutbound = takeDue("federation_outbound", "task_id");
const takeInbound = takeDue("federation_inbound", "task_id");
const takeOutbox = takeDue("federation_outbox", "settlement_id");

export interface DueDeliveries {
  /** Tasks that may not have arrived, and those that must be cancelled. */
  readonly forwards: readonly DueRow[];
  /** Tasks whose results must be sent, and holds that were not settled in time. */
  readonly results: readonly DueRow[];
  readonly settlements: readonly DueRow[];
}

export interface DueQuery {
  readonly now: number;
  /** The most rows of each kind. */
  readonly limit: number;
}

/** Lists what is due, oldest first. */
export async function listDueDeliveries(read: Reader, due: DueQuery): Promise<DueDeliveries> {
  const [forwards, results, settlements] = await Promise.all([
    read.all(dueOutbound, due),
    read.all(dueInbound, due),
    read.all(dueOutbox, due),
  ]);
  return { forwards, results, settlements };
}

/**
 * Claims what is due, so that no other process handles it for a while; the work on a row sets its own next
 * attempt.
 */
export async function claimDueDeliveries(tx: Tx, { now, limit }: DueQuery): Promise<DueDeliveries> {
  const take = { now, limit, until: now + VISIBILITY_MS };
  const [forwards, results, settlements] = await Promise.all([
    tx.all(takeOutbound, take),
    tx.all(takeInbound, take),
    tx.all(takeOutbox, take),
  ]);
  return { forwards, results, settlements };
}
