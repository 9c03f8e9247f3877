import {
  toMicro,
  type ArbitrationRate,
  type InspectionStake,
  type InspectionTerms,
} from "@agent/budget";
import type { AcceptanceTerms } from "@agent/wire";
import type { Config } from "../config/config.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import type { TaskAcceptance } from "../tasks/task-view.ts";

/** Parses the terms of a task's inspection before payment; undefined for a task without one. */
export function parseTaskTerms({
  acceptance,
}: Pick<TaskRow, "acceptance">): AcceptanceTerms | undefined {
  return acceptance === null ? undefined : (JSON.parse(acceptance) as TaskAcceptance).acceptance;
}

/** Parses the terms of an inspection. */
export function parseTerms({ terms }: Pick<InspectionRow, "terms">): AcceptanceTerms {
  return JSON.parse(terms) as AcceptanceTerms;
}

/** Returns the lengths of the states by the terms. */
export function toLengths({ window_ms, answer_ms, decision_ms }: AcceptanceTerms): InspectionTerms {
  return { windowMs: window_ms, answerMs: answer_ms, decisionMs: decision_ms };
}

/** Parses the lengths of the states of an inspection. */
export function parseLengths(row: Pick<InspectionRow, "terms">): InspectionTerms {
  return toLengths(parseTerms(row));
}

/** Returns the terms that are the same for all inspections at this relay. */
export function toRelayTerms({
  answerMs,
  decisionMs,
  feeRate,
  feeMin,
}: Config["disputes"]): Pick<
  AcceptanceTerms,
  "answer_ms" | "decision_ms" | "fee_rate" | "fee_min"
> {
  return { answer_ms: answerMs, decision_ms: decisionMs, fee_rate: feeRate, fee_min: feeMin };
}

/** Returns how the arbitration fee is computed. */
export function toArbitrationRate({
  fee_rate,
  fee_min,
}: Pick<AcceptanceTerms, "fee_rate" | "fee_min">): ArbitrationRate {
  return { feeRate: fee_rate, feeMin: toMicro(fee_min) };
}

/** Returns what an inspection costs parties who belong together. */
export function toStake(row: Pick<InspectionRow, "terms" | "due" | "fee">): InspectionStake {
  return { due: row.due, fee: row.fee, platformFeeRate: parseTerms(row).platform_fee_rate };
}
