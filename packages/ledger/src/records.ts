import type { SignedReceipt } from "./reconstruction/receipt-summary.ts";
import type { LedgerStep } from "./schema.ts";
import type { LedgerStatus } from "./statuses.ts";

/** The records of a relay about one goal of one agent; times are in ms since the epoch. */
export interface GoalRecords {
  readonly agentId: string;
  readonly goalId: string;
  /** The goal's own record, such as the task whose id it is. */
  readonly goal?: GoalRecord | undefined;
  /** Oldest first; if several plans have a step, the newest counts. */
  readonly plans: readonly PlanRecord[];
  /** The tasks that the agent delegated for this goal. */
  readonly tasks: readonly DelegatedTask[];
  /** In the order of the log; records that are not events of a ledger are ignored. */
  readonly events: readonly EventRecord[];
}

/** A goal as a relay stores it; times are in ms since the epoch by the relay's clock. */
export interface GoalRecord {
  readonly started_at?: number | null | undefined;
  readonly completed_at?: number | null | undefined;
  readonly status?: LedgerStatus | undefined;
}

/** A plan of the goal as a relay stores it; `created_at` is in ms since the epoch by the relay's clock. */
export interface PlanRecord {
  readonly plan_id: string;
  readonly title: string;
  readonly status: LedgerStatus;
  readonly created_at: number;
  readonly steps: readonly LedgerStep[];
}

/**
 * A task that the agent delegated for the goal, with its receipt; `submitted_at` is in ms since the epoch
 * by the relay's clock.
 */
export interface DelegatedTask {
  readonly task_id: string;
  readonly step_id?: string | null | undefined;
  readonly submitted_at: number;
  readonly receipt?: SignedReceipt | null | undefined;
  /** For a receipt whose texts were erased: the hash of the receipt as it was signed. */
  readonly receipt_hash?: string | undefined;
}

/** An event of the goal as a relay stores it; `timestamp` is in ms since the epoch by the relay's clock. */
export interface EventRecord {
  readonly type: string;
  readonly timestamp: number;
  readonly payload: unknown;
}
