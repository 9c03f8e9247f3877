import { hasTooManyRejections, isSubmitterSuspended, SUSPENSION_MS } from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import { DAY_MS } from "../../clock/durations.ts";
import type { Reader } from "../../storage/storage.ts";
import { listSubmitterCases, NO_VOLUME, sumPaid, sumRejected } from "../reading/count-store.ts";

const MONTH_MS = 30 * DAY_MS;

const MAX_READ_FOR_EACH = 20;

/** Refuses a submitter that lost too many disputes, or has rejected too much. */
export async function checkSubmitter(
  read: Reader,
  submitterId: string,
  now: number,
): Promise<Refusal<"acceptance.suspended" | "dispute.too_many"> | undefined> {
  const cases = { agent_id: submitterId, since: now - SUSPENSION_MS };
  if (isSubmitterSuspended(await listSubmitterCases(read, cases), now)) {
    return refuse("acceptance.suspended");
  }
  const rejectedOrDisputed = await sumRejected(read, submitterId);
  // Most submitters have too few for the limit, whatever they paid.
  if (!hasTooManyRejections({ rejectedOrDisputed, paidIn30Days: NO_VOLUME })) return undefined;
  // More than ten times as many suffice for the number, and twenty times as many for the amount unless they
  // were worth less than half as much, so a long history is not read to its end.
  const paidIn30Days = await sumPaid(read, {
    agent_id: submitterId,
    since: now - MONTH_MS,
    limit: MAX_READ_FOR_EACH * rejectedOrDisputed.count,
  });
  return hasTooManyRejections({ rejectedOrDisputed, paidIn30Days })
    ? refuse("dispute.too_many")
    : undefined;
}
