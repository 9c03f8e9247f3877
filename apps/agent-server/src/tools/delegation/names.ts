/** The tools with which the owner delegates; other callers are refused. */
export const delegationToolNames = [
  "find_agents",
  "delegate_task",
  "task_status",
  "cancel_task",
  "inspect_result",
  "balance",
  "statement",
  "verify_receipt",
] as const;
