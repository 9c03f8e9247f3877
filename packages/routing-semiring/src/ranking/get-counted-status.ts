import type { TaskOutcome } from "../trust/trust.ts";

/** What a task and its settlement say about the executor; see `getCountedStatus`. */
export interface EndedTask {
  /** The status of the verified receipt. */
  readonly receipt: "completed" | "failed" | "denied";
  /** Whether money was held for the task. */
  readonly priced: boolean;
  /** How the task was settled, the amount in micro-units; undefined while that is not decided. */
  readonly settlement?:
    | { readonly status: "completed" | "partial" | "refunded"; readonly amount: number }
    | undefined;
}

/**
 * As what a task counts for its executor (docs/decisions.md, 6). A completed receipt of a paid task is
 * a success only when its whole price was paid: otherwise the executor's own ledger says that work is
 * missing, or the money has yet to arrive. A failed receipt is a failure whatever it is settled with.
 */
export function getCountedStatus({
  receipt,
  priced,
  settlement,
}: EndedTask): TaskOutcome["status"] {
  if (receipt !== "completed" || !priced) return receipt;
  if (settlement === undefined) return "unsettled";
  if (settlement.status !== "completed") return settlement.status;
  return settlement.amount > 0 ? "completed" : "refunded";
}
