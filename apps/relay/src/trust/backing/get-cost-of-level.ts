import { asMicro, type Micro } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { getTrustThresholds } from "./backing-store.ts";

/** Returns what faking the level `verified` costs in fees, in micro-units (docs/trust.md). */
export async function getCostOfLevel(read: Reader): Promise<Micro> {
  return asMicro(2 * (await getTrustThresholds(read)).verified);
}
