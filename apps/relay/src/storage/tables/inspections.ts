import type { Micro, Millionths } from "@agent/budget";

/** An inspection before payment. Amounts in micro-units, times in ms. */
export interface InspectionRow {
  task_id: string;
  /** The agent of the task's path. */
  agent_id: string;
  /** The reference of the executor's bond and of the arbitration fee. */
  dispute_id: string;
  state: "inspecting" | "rejected" | "disputed" | "closed";
  /** JSON: the terms of the task. */
  terms: string;
  submitter_id: string;
  executor_id: string;
  /** The arbiter in charge, from the contest on; the relay's id for its operator. */
  arbiter_id: string;
  receipt_hash: string;
  /** Of the ledger that `due` follows from; null without one. */
  ledger_hash: string | null;
  due: Micro;
  /** The status of a settlement that pays all that is due. */
  due_status: "completed" | "partial";
  fee: Micro;
  bond: Micro;
  /** Null before a rejection. */
  offer: Millionths | null;
  /** Null once it is closed. */
  deadline: number | null;
  /** 1 once a start of the relay moved the deadline of this state. */
  moved: 0 | 1;
  /** JSON array of signed verdicts, oldest first. */
  verdicts: string;
  decision: string | null;
  outcome: string | null;
  share: Millionths | null;
  lost_by: "submitter" | "executor" | null;
  /** JSON array of [account, sequence] of its movements, except that of the settlement. */
  postings: string;
  /** 0 if its parties count as one agent. */
  counted: 0 | 1;
  begun_at: number;
  contested_at: number | null;
  /** The agent that was replaced as the arbiter, and its deadline. */
  passed_by: string | null;
  passed_at: number | null;
  closed_at: number | null;
}

/**
 * The figures of an agent's inspections in each of its roles, without those between agents that count as one.
 * `updateInspection` keeps them with the rows that they count.
 */
export interface InspectionCountRow {
  agent_id: string;
  submitter_closed: number;
  submitter_rejected: number;
  submitter_lost: number;
  executor_closed: number;
  executor_rejected: number;
  executor_lost: number;
  /** Disputes of which it is or was the last arbiter. */
  arbiter_opened: number;
  arbiter_decided: number;
  arbiter_undecided: number;
  /** Disputes that went to the operator, because it did not decide in time. */
  arbiter_passed: number;
}
