import { delegate } from "@agent/client";
import type { ExecutionReceipt, RelayAttestation } from "@agent/receipts";
import { bodyOf } from "../body-of.ts";
import type { Client, Worker } from "../stage.ts";
import type { NetworkRelay } from "./relays.ts";

/** A relay's word on a receipt, as the relay that took it from there keeps it. */
export interface Attested {
  readonly by: NetworkRelay;
  readonly attestation: RelayAttestation;
}

/** One task that was paid for across relays. */
export interface AbroadJob {
  readonly payer: Client;
  readonly worker: Worker;
  readonly taskId: string;
  readonly prompt: string;
  readonly receipt: ExecutionReceipt;
  /** The relays that the task came to, nearest first, each with its word. */
  readonly attested: readonly Attested[];
}

const patienceMs = 40_000;

/** Hires a worker of another relay by its id; `way` are the relays from the payer's to the worker's. */
export async function hireAbroad(
  payer: Client,
  worker: Worker,
  prompt: string,
  way: readonly NetworkRelay[],
): Promise<AbroadJob> {
  const { agentId } = worker;
  const done = await delegate(payer.client, { agentId, prompt, timeoutMs: patienceMs });
  if (!done.ok) throw new Error(`${payer.name} got nothing: ${done.message} (${done.code})`);
  const { receipt, task } = done;
  const taskId = task.task_id;
  const attested: Attested[] = [];
  for (const [at, by] of way.slice(1).entries()) {
    const holder = way[at];
    if (holder === undefined) break;
    const { attestation } = bodyOf(await holder.operator.getTask({ params: { agentId, taskId } }));
    if (attestation === undefined) throw new Error(`${by.name} attested nothing`);
    attested.push({ by, attestation: attestation as unknown as RelayAttestation });
  }
  return { payer, worker, taskId, prompt, receipt, attested };
}
