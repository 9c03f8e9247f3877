import { delegate, type RelayClient } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { ListedTask, Received, Settlement } from "@agent/wire";
import { unwrapBody } from "./unwrap-body.ts";
import type { Member, Participants, Worker } from "./participants.ts";

/** One paid task, with the data that the relay shows. */
export interface PaidTask {
  readonly payer: Member;
  readonly worker: Worker;
  readonly task: Received<typeof ListedTask>;
  readonly settlement: Received<typeof Settlement>;
}

export interface PaidDelegation {
  /** The editor's task for research, and the task that research delegated to the linguist within it. */
  readonly outer: PaidTask;
  readonly inner: PaidTask;
  /** The receipt of the outer task, which contains the receipt of the inner one. */
  readonly receipt: ExecutionReceipt;
}

/** The editor's budget for the report, in USD. */
const MAX_BUDGET = 3;
const TIMEOUT_MS = 30_000;

/** Delegates the report to the best-ranked agent, and waits for the receipt. */
export async function delegateReport(
  participants: Participants,
  prompt: string,
  signal: AbortSignal,
): Promise<PaidDelegation> {
  const { operator, editor, research, linguist } = participants;
  const { capability } = research;
  const { agents } = unwrapBody(await editor.client.discover({ query: { capability } }));
  const [offer] = agents;
  if (offer === undefined) throw new Error(`no agent offers ${capability}`);
  const delegated = await delegate(editor.client, {
    agentId: offer.agent_id,
    requiredCapabilities: [capability],
    prompt,
    maxBudget: MAX_BUDGET,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (!delegated.ok)
    throw new Error(`the delegation failed: ${delegated.message} (${delegated.code})`);
  const { task, receipt } = delegated;
  if (receipt.status !== "completed")
    throw new Error(`receipt status ${receipt.status}: ${receipt.result}`);
  const inner = await findOnlyTask(operator, research);
  return {
    outer: await withSettlement(operator, { payer: editor, worker: research, task }),
    inner: await withSettlement(operator, { payer: research, worker: linguist, task: inner }),
    receipt,
  };
}

async function findOnlyTask(
  operator: RelayClient,
  { agentId, name }: Member,
): Promise<Received<typeof ListedTask>> {
  const request = { params: { agentId }, query: { submitted_by: "me" } } as const;
  const { tasks } = unwrapBody(await operator.listTasks(request));
  const [task] = tasks;
  if (task === undefined || tasks.length > 1) {
    throw new Error(`${name} submitted ${tasks.length} tasks instead of one`);
  }
  return task;
}

async function withSettlement(
  operator: RelayClient,
  job: Omit<PaidTask, "settlement">,
): Promise<PaidTask> {
  const { agentId } = job.payer;
  const { settlements } = unwrapBody(await operator.listSettlements({ params: { agentId } }));
  const settlement = settlements.find(({ task_id }) => task_id === job.task.task_id);
  if (settlement === undefined) throw new Error(`the task of ${job.payer.name} was not settled`);
  return { ...job, settlement };
}
