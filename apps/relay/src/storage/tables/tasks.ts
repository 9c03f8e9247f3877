import type { TaskStatus } from "@agent/wire";
import type { Micro } from "@agent/budget";

export interface TaskRow {
  task_id: string;
  agent_id: string;
  submitted_by: string | null;
  /** The relay that forwarded the task to this one; null for a task submitted here. */
  origin_peer: string | null;
  /** The executor that scored routing chose; null while it is the target. */
  assigned_to: string | null;
  status: TaskStatus;
  prompt: string;
  required_capabilities: string;
  submitted_at: number;
  expires_at: number;
  wall_clock_ms: number | null;
  step_id: string | null;
  routing_choice: string | null;
  /** JSON array of the executors to try in order, each with its price. */
  attempts: string;
  /** The index of the executor that has the task. */
  attempt: number;
  /** The relay whose agent has the task at this attempt; null for an agent of this relay. */
  via_peer: string | null;
  charge: Micro;
  locked: Micro;
  allocation_id: string | null;
  claimed_by: string | null;
  lease_until: number | null;
  /** 1 once a bad signature of the executor counted against it. */
  blamed: 0 | 1;
  receipt_hash: string | null;
  finished_at: number | null;
  /** JSON; null without one. */
  delegation_token: string | null;
  /** JSON: the trace of the request that submitted it; null without one. */
  trace: string | null;
  /** The number of tasks above it; 0 for one without a parent. */
  depth: number;
  /** JSON array of the executors of the tasks above it at this relay; null without one. */
  ancestors: string | null;
  /** JSON: the terms of its inspection before payment, as `toTask` shows them; null without one. */
  acceptance: string | null;
}

/** A stored task with the number of its events and the state of its claim. */
export interface StoredTaskRow extends TaskRow {
  /** The number of recorded events, besides its submission and its end. */
  event_count: number;
  /** The UTF-8 bytes of all stored notes. */
  note_bytes: number;
  /** The time of a claim that is the first recorded event, which has no row of its own; else null. */
  first_claimed_at: number | null;
  /** The time at which its texts were replaced by hashes; null before. */
  erased_at: number | null;
  /** The time of the claim; null without one and for claims of older versions. */
  claimed_at: number | null;
  /** The last sign of work by the holder of the claim. */
  worked_at: number | null;
  /** The time at which the submitter asked the holder of the claim to stop. */
  cancel_requested_at: number | null;
}

/** A task's row with what only the processes of a relay use. */
export interface ManagedTaskRow extends StoredTaskRow {
  /** The time from which any process may route the pending task again; null on SQLite. */
  bring_at: number | null;
}

/** The columns whose values a new task brings; the others begin as zero or null. */
export const NEW_TASK_COLUMNS = [
  "task_id",
  "agent_id",
  "submitted_by",
  "origin_peer",
  "assigned_to",
  "status",
  "prompt",
  "required_capabilities",
  "submitted_at",
  "expires_at",
  "wall_clock_ms",
  "step_id",
  "routing_choice",
  "attempts",
  "attempt",
  "via_peer",
  "charge",
  "locked",
  "allocation_id",
  "claimed_by",
  "lease_until",
  "blamed",
  "receipt_hash",
  "finished_at",
  "delegation_token",
  "trace",
  "depth",
  "ancestors",
  "acceptance",
] as const satisfies readonly (keyof TaskRow)[];

/** Named, because Postgres numbers the rows in one more column, which belongs to no row. */
export const TASK_COLUMNS = [
  ...NEW_TASK_COLUMNS,
  "event_count",
  "note_bytes",
  "first_claimed_at",
  "erased_at",
  "claimed_at",
  "worked_at",
  "cancel_requested_at",
] as const satisfies readonly (keyof StoredTaskRow)[];

/** An event of a task; its number counts the submission as 1. */
export interface TaskEventRow {
  task_id: string;
  event_id: number;
  type: "claimed" | "progress" | "released" | "reassigned";
  at: number;
  note: string | null;
  assigned_to: string | null;
}

/** A claim that its holder let end without a receipt, a release or a refusal. */
export interface NoShowRow {
  task_id: string;
  /** The agent that had the claim; for a forwarded task the relay that received it. */
  agent_id: string;
  /** The agent of the task's path. */
  target_id: string;
  submitted_by: string | null;
  lapsed_at: number;
  /** 1 once the task expired and its own row was deleted. */
  expired: 0 | 1;
  /** JSON: the task as its submitter sees it, without its prompt. */
  task: string;
  /** JSON: the relay's signed statement. */
  record: string;
}

export interface TaskCounterRow {
  scope: string;
  live: number;
}

export interface ReceiptRow {
  task_id: string;
  receipt_hash: string;
  agent_id: string;
  /** The receipt's text exactly as it arrived. */
  body: string;
  received_at: number;
  /** The time at which its texts, or those of a nested receipt, were replaced by hashes; null before. */
  erased_at: number | null;
}

/** Named for the same reason as those of tasks. */
export const RECEIPT_COLUMNS = [
  "task_id",
  "receipt_hash",
  "agent_id",
  "body",
  "received_at",
  "erased_at",
] as const satisfies readonly (keyof ReceiptRow)[];

/** A receipt that is nested in the archived receipt of a task, by its signature. */
export interface NestedReceiptRow {
  signature: string;
  task_id: string;
}

/** The use of a delegation token with a `max_budget`. */
export interface DelegationBudgetRow {
  issuer_id: string;
  token_id: string;
  /** The sum of open holds and charges, in micro-units. */
  used: number;
  /** The end of the last token of this name; null if it was not used since this is recorded. */
  expires_at: number | null;
  /** Tasks whose holds are counted. */
  open_tasks: number;
}
