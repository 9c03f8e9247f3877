import {
  asMillionths,
  computePart,
  countsForArbiter,
  type DecidedDispute,
  NO_SHARE,
} from "@agent/budget";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { getLeastFees } from "../../trust/backing/get-least-fees.ts";
import { getPayerFees } from "../../trust/backing/get-payer-fees.ts";
import { toStake } from "../terms.ts";

/** Returns what a decided dispute cost an owner of both parties and the arbiter. */
export function toDecidedDispute(
  row: Pick<InspectionRow, "due" | "fee" | "terms" | "share">,
  submitterFees: number,
): DecidedDispute {
  const share = row.share === null ? NO_SHARE : asMillionths(row.share);
  return { ...toStake(row), paid: computePart(row.due, share), submitterFees };
}

/**
 * Returns whether a decided inspection counts in the figures of its arbiter. All decisions of the operator
 * do, because it answers for cases of any sum.
 */
export async function isDecisionCounted(
  read: Reader,
  row: InspectionRow,
  { relayId }: Pick<Services["identity"], "relayId">,
): Promise<boolean> {
  if (row.arbiter_id === relayId) return true;
  const submitterFees = await getPayerFees(read, row.submitter_id);
  return countsForArbiter(toDecidedDispute(row, submitterFees), await getLeastFees(read));
}
