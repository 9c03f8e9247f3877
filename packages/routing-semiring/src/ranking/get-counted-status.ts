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
 * Returns the status by which a task counts for its executor (docs/decisions.md, 6). A completed receipt of
 * a paid task is a success only if its whole price was paid: otherwise the executor's own ledger shows
 * missing work, or the payment is pending. A failed receipt is a failure with any settlement.
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

/** A task that was inspected before payment, at the close; amounts in micro-units. */
export interface InspectedTask {
  readonly result: "accepted" | "lapsed" | "conceded" | "unanswered" | "decided" | "undecided";
  /** The part of the due sum that was paid, in millionths. */
  readonly share: number;
  readonly paid: number;
  /** The sum that the receipt earned. */
  readonly due: number;
  readonly price: number;
}

const HALF_SHARE = 500_000;

/**
 * Returns the status by which an inspected task counts (docs/decisions.md, 6): half of the due sum or more
 * is a success, less a failure. An undecided case counts for neither side. Work that earned less than its
 * price by the executor's own ledger is no success.
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
