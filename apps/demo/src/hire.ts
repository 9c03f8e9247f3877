import { delegate, type RelayClient } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { ListedTask, Received, Settlement } from "@agent/wire";
import { bodyOf } from "./body-of.ts";
import type { Member, Stage, Worker } from "./stage.ts";

/** One task that was paid for, as the relay tells it. */
export interface Job {
  readonly payer: Member;
  readonly worker: Worker;
  readonly task: Received<typeof ListedTask>;
  readonly settlement: Received<typeof Settlement>;
}

export interface Hired {
  /** The editor's with research, and within it that of research with the linguist. */
  readonly outer: Job;
  readonly inner: Job;
  /** The receipt of the outer job, in which the inner one's is nested. */
  readonly receipt: ExecutionReceipt;
}

/** The most that the report may cost the editor, in USD. */
const budget = 3;
const patienceMs = 30_000;

/** Lets the editor hire whoever the relay finds best for the work, and waits for the receipt. */
export async function hire(stage: Stage, prompt: string, signal: AbortSignal): Promise<Hired> {
  const { operator, editor, research, linguist } = stage;
  const { capability } = research;
  const { agents } = bodyOf(await editor.client.discover({ query: { capability } }));
  const [offer] = agents;
  if (offer === undefined) throw new Error(`nobody offers ${capability}`);
  const done = await delegate(editor.client, {
    agentId: offer.agent_id,
    requiredCapabilities: [capability],
    prompt,
    maxBudget: budget,
    timeoutMs: patienceMs,
    signal,
  });
  if (!done.ok) throw new Error(`the delegation failed: ${done.message} (${done.code})`);
  const { task, receipt } = done;
  if (receipt.status !== "completed")
    throw new Error(`the work ${receipt.status}: ${receipt.result}`);
  const inner = await onlyTaskOf(operator, research);
  return {
    outer: await jobOf(operator, { payer: editor, worker: research, task }),
    inner: await jobOf(operator, { payer: research, worker: linguist, task: inner }),
    receipt,
  };
}

async function onlyTaskOf(
  operator: RelayClient,
  { agentId, name }: Member,
): Promise<Received<typeof ListedTask>> {
  const request = { params: { agentId }, query: { submitted_by: "me" } } as const;
  const { tasks } = bodyOf(await operator.listTasks(request));
  const [task] = tasks;
  if (task === undefined || tasks.length > 1) {
    throw new Error(`${name} submitted ${tasks.length} tasks instead of one`);
  }
  return task;
}

async function jobOf(operator: RelayClient, job: Omit<Job, "settlement">): Promise<Job> {
  const { agentId } = job.payer;
  const { settlements } = bodyOf(await operator.listSettlements({ params: { agentId } }));
  const settlement = settlements.find(({ task_id }) => task_id === job.task.task_id);
  if (settlement === undefined) throw new Error(`the task of ${job.payer.name} was not settled`);
  return { ...job, settlement };
}
