import type { TaskStatus } from "@agent/wire";

export interface TaskRow {
  task_id: string;
  agent_id: string;
  submitted_by: string | null;
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
  /** JSON array of the executors to try in turn, with the price that each charges. */
  attempts: string;
  /** Which of them has the task now. */
  attempt: number;
  charge: number;
  locked: number;
  allocation_id: string | null;
  claimed_by: string | null;
  lease_until: number | null;
  /** 1 once a bad signature of the executor counted against it. */
  blamed: 0 | 1;
  receipt_hash: string | null;
  finished_at: number | null;
  /** JSON; null where the task came without one. */
  delegation_token: string | null;
  /** JSON: the trace of the request that submitted it; null without one. */
  trace: string | null;
}

/** A task as it is read: what happened to it between its beginning and its end comes with it. */
export interface StoredTaskRow extends TaskRow {
  /** JSON array. */
  events: string;
  /** When its texts became their hashes; null while they are there. */
  erased_at: number | null;
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
  /** When its texts became their hashes, or those of a receipt nested in it; null before. */
  erased_at: number | null;
}

/** A receipt, by its signature, that the archived receipt of a task carries. */
export interface NestedReceiptRow {
  signature: string;
  task_id: string;
}

/** Of a delegation token with a `max_budget`. */
export interface DelegationBudgetRow {
  issuer_id: string;
  token_id: string;
  /** Open holds and what was charged, in micro-units. */
  used: number;
  /** When the last of the tokens of this name ends; null for one that was not used since this is noted. */
  expires_at: number | null;
  /** Tasks whose holds are counted. */
  open_tasks: number;
}
