import type { Reader } from "../../storage/storage.ts";
import { findHistory } from "../store.ts";

/** Returns the fees that an agent left as a payer, with all executors, in micro-units. */
export async function getPayerFees(read: Reader, agentId: string): Promise<number> {
  return (await findHistory(read, agentId))?.fees_paid ?? 0;
}
