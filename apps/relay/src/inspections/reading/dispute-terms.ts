import type { Services } from "../../services.ts";
import { countOpenDisputes, countOperatorDisputes } from "./count-store.ts";

/** Returns the terms of inspections at this relay, and how its operator has decided until now. */
export async function loadDisputeTerms({
  config,
  identity,
  storage,
}: Pick<Services, "config" | "identity" | "storage">) {
  const { answerMs, decisionMs, feeRate, feeMin, windowMinMs } = config.disputes;
  return {
    answer_ms: answerMs,
    decision_ms: decisionMs,
    fee_rate: feeRate,
    fee_min: feeMin,
    window_min_ms: windowMinMs,
    ...(await countOperatorDisputes(storage.read, identity.relayId)),
  };
}

/** Counts the disputes that wait for the decision of the operator. */
export function countDisputesToDecide({
  identity,
  storage,
}: Pick<Services, "identity" | "storage">): Promise<number> {
  return countOpenDisputes(storage.read, identity.relayId);
}
