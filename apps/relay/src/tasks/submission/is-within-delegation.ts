import { getEffectiveRight, parseDelegationChain, type ExecutionReceipt } from "@agent/receipts";
import type { TaskRow } from "../../storage/tables/tasks.ts";

/** Returns whether a receipt names only tools that its task's token allows; without a token all are. */
export function isWithinDelegation(
  { delegation_token }: Pick<TaskRow, "delegation_token">,
  { tools_used }: Pick<ExecutionReceipt, "tools_used">,
): boolean {
  if (delegation_token === null) return true;
  const { tools } = getEffectiveRight(parseDelegationChain(delegation_token) ?? []);
  return tools_used.every((tool) => tools.has(tool));
}
