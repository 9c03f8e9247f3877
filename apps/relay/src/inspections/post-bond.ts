import { buildHoldPostings, fromMicro } from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import { postMovement } from "../budget/post-movement.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { addPostings } from "./close.ts";

interface PostedBond {
  readonly ok: true;
  readonly bond: Pick<InspectionRow, "bond" | "postings">;
}

/** Holds the executor's bond for a contest: the arbitration fee, which it pays if it loses. */
export async function postBond(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  row: InspectionRow,
): Promise<PostedBond | Refusal<"dispute.bond_required">> {
  const { executor_id: payerId, dispute_id: taskId, fee, deadline } = row;
  const postings = buildHoldPostings({ payerId, taskId, amount: fee });
  const entry = { reference: taskId, description: "bond" };
  const posted = await postMovement(tx, runtime, postings, entry);
  if (!posted.ok) {
    const time = deadline === null ? "" : ` until ${new Date(deadline).toISOString()}`;
    return refuse("dispute.bond_required", `${fromMicro(fee)} USD${time}`);
  }
  return { ok: true, bond: { bond: fee, postings: addPostings(row, posted.rows) } };
}
