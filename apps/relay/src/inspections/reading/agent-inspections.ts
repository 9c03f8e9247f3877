import type { Reader } from "../../storage/storage.ts";
import { countArbitrations, countInspections } from "./count-store.ts";

/** Returns how the inspections of an agent ended, in each of its roles. */
export async function loadAgentInspections(read: Reader, agentId: string) {
  const [as_delegator, as_executor, as_arbiter] = await Promise.all([
    countInspections(read, "submitter", agentId),
    countInspections(read, "executor", agentId),
    countArbitrations(read, agentId),
  ]);
  return { as_delegator, as_executor, as_arbiter };
}
