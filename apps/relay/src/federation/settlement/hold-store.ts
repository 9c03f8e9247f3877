import { queryBuilder, param, params, compile } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationHoldRow, FederationPaymentRow } from "../../storage/tables/federation.ts";

const dropHold = compile<{ task_id: string }>()(
  queryBuilder.deleteFrom("federation_holds").where("task_id", "=", param("task_id")),
);

const addHold = compile<FederationHoldRow>()(
  queryBuilder.insertInto("federation_holds").values(params("task_id", "amount")),
);

/** Records that the hold of an ended task stays, and its amount, for reconciliation. */
export async function saveHold(tx: Tx, hold: FederationHoldRow): Promise<void> {
  await tx.run(dropHold, hold);
  await tx.run(addHold, hold);
}

export async function deleteHold(tx: Tx, task_id: string): Promise<void> {
  await tx.run(dropHold, { task_id });
}

const addPayment = compile<FederationPaymentRow>()(
  queryBuilder
    .insertInto("federation_payments")
    .values(params("relay_id", "reference"))
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores the reference of an external payment; false when it was recorded before. */
export async function recordPaymentReference(
  tx: Tx,
  payment: FederationPaymentRow,
): Promise<boolean> {
  return (await tx.run(addPayment, payment)) === 1;
}
