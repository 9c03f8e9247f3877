/** Every reason for which a ledger is not valid. */
export type LedgerRefusal =
  | "ledger.malformed"
  | "ledger.spec"
  | "ledger.wrong_agent"
  | "ledger.content_hash_mismatch"
  | "ledger.unordered"
  | "ledger.key_missing"
  | "ledger.signature_invalid";

/** The warnings about a ledger that stays valid. */
export type LedgerWarning =
  | "ledger.unsigned"
  | "ledger.goal_contradicted"
  | "ledger.steps_contradicted"
  | "ledger.steps_unrecorded";

/** A difference between an unsigned member and the timeline. */
export interface Contradiction<Code extends string = GoalContradiction | StepContradiction> {
  readonly code: Code;
  /** The path in the ledger, joined with dots. */
  readonly path: string;
}

/** The codes of the differences that `crossCheckGoal` finds. */
export type GoalContradiction =
  | "ledger.goal_mismatch"
  | "ledger.plan_mismatch"
  | "ledger.status_mismatch";

/** The codes of the differences that `crossCheckSteps` finds. */
export type StepContradiction =
  | "ledger.step_repeated"
  | "ledger.step_missing"
  | "ledger.step_unlisted"
  | "ledger.step_unrecorded"
  | "ledger.step_status_mismatch"
  | "ledger.step_ordinal_mismatch"
  | "ledger.step_tools_mismatch"
  | "ledger.step_tool_calls_mismatch"
  | "ledger.step_delegation_mismatch"
  | "ledger.event_without_step";
