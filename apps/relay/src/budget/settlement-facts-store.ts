import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";

const paymentByTask = inRowForm(
  compile<{ task_id: string }>()(
    sql<{ tx_hash: string; requirements: string }>`
      select tx_hash, requirements from x402_payments
      where task_id = ${param("task_id")} and state = 'settled'`,
  ),
  { kind: "find", table: KEYED_TABLES.settled_x402_payments },
);

/** Finds the payment that a task was submitted with, for the relay that is paid for it. */
export async function findPaymentOfTask(
  read: Reader,
  task_id: string,
): Promise<{ txHash: string; network: string } | undefined> {
  const row = await read.get(paymentByTask, { task_id });
  if (row === undefined) return undefined;
  const { network } = JSON.parse(row.requirements) as { network: string };
  return { txHash: row.tx_hash, network };
}
