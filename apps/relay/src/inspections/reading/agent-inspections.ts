import type { Reader } from "../../storage/storage.ts";
import { findInspectionCounts } from "./count-store.ts";

/** Returns how the inspections of an agent ended, in each of its roles. */
export async function loadAgentInspections(read: Reader, agentId: string) {
  const counts = await findInspectionCounts(read, agentId);
  return {
    as_delegator: {
      closed: counts?.submitter_closed ?? 0,
      rejected: counts?.submitter_rejected ?? 0,
      lost: counts?.submitter_lost ?? 0,
    },
    as_executor: {
      closed: counts?.executor_closed ?? 0,
      rejected: counts?.executor_rejected ?? 0,
      lost: counts?.executor_lost ?? 0,
    },
    as_arbiter: { decided: counts?.arbiter_decided ?? 0, passed: counts?.arbiter_passed ?? 0 },
  };
}
