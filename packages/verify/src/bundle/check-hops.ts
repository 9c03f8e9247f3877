import { flattenChain, isBoundToTask } from "@agent/receipts";
import type { EvidenceBundle } from "./schema.ts";

/**
 * Returns whether, for each nested receipt, the relay's record of its task names the agent one hop up as
 * its submitter and the signer as its executor. Undefined without nested receipts, or if the relay does not
 * know some of their tasks and the others match.
 */
export function checkHops({
  receipt,
  nested_tasks: stated = [],
}: EvidenceBundle): boolean | undefined {
  const tasks = new Map(stated.map((task) => [task.task_id, task]));
  const fits = flattenChain(receipt).links.map(({ receipt: nested, parent }) => {
    const task = tasks.get(nested.relay_task_id ?? nested.task_id);
    return (
      task &&
      isBoundToTask(nested, task.task_id) &&
      task.submitted_by === parent.agent_id &&
      task.executor === nested.agent_id
    );
  });
  if (fits.includes(false)) return false;
  return fits.length === 0 || fits.includes(undefined) ? undefined : true;
}
