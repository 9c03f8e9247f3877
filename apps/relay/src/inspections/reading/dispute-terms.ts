import type { Services } from "../../services.ts";
import { toRelayTerms } from "../terms.ts";
import { countOpenDisputes, findInspectionCounts } from "./count-store.ts";

/** Returns the terms of inspections at this relay, and how its operator has decided until now. */
export async function loadDisputeTerms({
  config,
  identity,
  storage,
}: Pick<Services, "config" | "identity" | "storage">) {
  const counts = await findInspectionCounts(storage.read, identity.relayId);
  return {
    ...toRelayTerms(config.disputes),
    window_min_ms: config.disputes.windowMinMs,
    opened: counts?.arbiter_opened ?? 0,
    decided: counts?.arbiter_decided ?? 0,
    undecided: counts?.arbiter_undecided ?? 0,
  };
}

/** Counts the disputes that wait for the decision of the operator. */
export function countDisputesToDecide({
  identity,
  storage,
}: Pick<Services, "identity" | "storage">): Promise<number> {
  return countOpenDisputes(storage.read, identity.relayId);
}
