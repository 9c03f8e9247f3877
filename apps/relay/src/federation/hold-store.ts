import { db, p, prepare } from "../storage/prepared.ts";
import type { Tx } from "../storage/storage.ts";
import type { FederationHoldRow, FederationPaymentRow } from "../storage/tables/federation.ts";

const dropHold = prepare<{ task_id: string }>()(
  db.deleteFrom("federation_holds").where("task_id", "=", p("task_id")),
);

const addHold = prepare<FederationHoldRow>()(
  db.insertInto("federation_holds").values({ task_id: p("task_id"), amount: p("amount") }),
);

/** Says that the hold of an ended task stays, and how much of it; reconciliation asks. */
export async function keepHold(tx: Tx, hold: FederationHoldRow): Promise<void> {
  await tx.run(dropHold, hold);
  await tx.run(addHold, hold);
}

export async function endHold(tx: Tx, task_id: string): Promise<void> {
  await tx.run(dropHold, { task_id });
}

const addPayment = prepare<FederationPaymentRow>()(
  db
    .insertInto("federation_payments")
    .values({ relay_id: p("relay_id"), reference: p("reference") })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Takes the reference of a payment outside; false when it was recorded before. */
export async function takePayment(tx: Tx, payment: FederationPaymentRow): Promise<boolean> {
  return (await tx.run(addPayment, payment)) === 1;
}
