import type { TaskStatus } from "@agent/wire";

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
  /** JSON array of the executors to try in turn, with the price that each charges. */
  attempts: string;
  /** Which of them has the task now. */
  attempt: number;
  /** The relay whose agent has the task at this attempt; null for an agent of this relay. */
  via_peer: string | null;
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

/** A task as it is read: with what happened to it, and the state of its claim. */
export interface StoredTaskRow extends TaskRow {
  /** JSON array. */
  events: string;
  /** When its texts became their hashes; null while they are there. */
  erased_at: number | null;
  /** When the claim was made; null while the task is not claimed, and for claims of older versions. */
  claimed_at: number | null;
  /** When the holder of the claim last showed that it works. */
  worked_at: number | null;
  /** When the submitter asked the holder of the claim to stop. */
  cancel_requested_at: number | null;
}

/** A claim that its holder let end without a receipt, a release or a refusal. */
export interface NoShowRow {
  task_id: string;
  /** The agent that had the claim; of a forwarded task the relay that it was forwarded to. */
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
