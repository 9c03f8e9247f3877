import { hasTooManyRejections, isSubmitterSuspended } from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import { DAY_MS } from "../../clock/day-ms.ts";
import type { Reader } from "../../storage/storage.ts";
import { countBegun, countRejected, listSubmitterCases } from "../reading/count-store.ts";

const MONTH_MS = 30 * DAY_MS;

/** Refuses a submitter that lost too many disputes, or has rejected too much. */
export async function checkSubmitter(
  read: Reader,
  submitterId: string,
  now: number,
): Promise<Refusal<"acceptance.suspended" | "dispute.too_many"> | undefined> {
  if (isSubmitterSuspended(await listSubmitterCases(read, submitterId), now)) {
    return refuse("acceptance.suspended");
  }
  const rejectedOrDisputed = await countRejected(read, submitterId);
  // Most submitters have too few for the limit, whatever they began.
  if (!hasTooManyRejections({ rejectedOrDisputed, begunIn30Days: 0 })) return undefined;
  // More than ten times as many are enough for any limit, and a long history is not counted to its end.
  const begunIn30Days = await countBegun(read, {
    agent_id: submitterId,
    since: now - MONTH_MS,
    limit: 10 * rejectedOrDisputed + 1,
  });
  return hasTooManyRejections({ rejectedOrDisputed, begunIn30Days })
    ? refuse("dispute.too_many")
    : undefined;
}
