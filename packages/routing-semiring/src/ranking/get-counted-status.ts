import type { TaskOutcome } from "../trust/trust.ts";

/** A task and its settlement as they affect the record of the executor; see `getCountedStatus`. */
export interface EndedTask {
  /** The status of the verified receipt. */
  readonly receipt: "completed" | "failed" | "denied";
  /** Whether money was held for the task. */
  readonly priced: boolean;
  /** The settlement, with the amount in micro-units; undefined while it is not decided. */
  readonly settlement?:
    | { readonly status: "completed" | "partial" | "refunded"; readonly amount: number }
    | undefined;
}

/**
 * Returns the status that a task counts as for its executor (docs/decisions.md, 6). A completed receipt of
 * a paid task is a success only if the whole price was paid; otherwise either the executor's own ledger
 * shows missing work or the payment is pending. A failed receipt is a failure, whatever its settlement.
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

/** A task that was inspected before payment, at the end of the inspection; amounts in micro-units. */
export interface InspectedTask {
  readonly result: "accepted" | "lapsed" | "conceded" | "unanswered" | "decided" | "undecided";
  /** The share of the amount due that was paid, in millionths. */
  readonly share: number;
  readonly paid: number;
  /** The amount that the receipt earned. */
  readonly due: number;
  readonly price: number;
}

const HALF_SHARE = 500_000;

/**
 * Returns the status that an inspected task counts as (docs/decisions.md, 6): a success if at least half of
 * the amount due was paid, otherwise a failure. An undecided case counts as neither. Work that earned less
 * than its price by the executor's own ledger is not a success.
 */
export function getInspectedStatus({
  result,
  share,
  paid,
  due,
  price,
}: InspectedTask): TaskOutcome["status"] {
  if (result === "undecided") return "denied";
  if (share < HALF_SHARE || paid === 0) return "failed";
  return due < price ? "partial" : "completed";
}
