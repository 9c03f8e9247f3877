import { asMicro, type Micro } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { getTrustThresholds } from "./backing-store.ts";

/** Returns the fees that a payer must leave before its word counts in full, in micro-units (docs/trust.md). */
export async function getLeastFees(read: Reader): Promise<Micro> {
  return asMicro((await getTrustThresholds(read)).verified);
}
