import { delegate } from "@agent/client";
import type { ExecutionReceipt, RelayAttestation } from "@agent/receipts";
import { unwrapBody } from "../participants/unwrap-body.ts";
import type { ClientAgent, Worker } from "../participants/participants.ts";
import type { NetworkRelay } from "./relays.ts";

/** A relay's attestation of a receipt, as stored by the relay that received it. */
export interface Attested {
  readonly by: NetworkRelay;
  readonly attestation: RelayAttestation;
}

/** One paid task across relays. */
export interface ForwardedJob {
  readonly payer: ClientAgent;
  readonly worker: Worker;
  readonly taskId: string;
  readonly prompt: string;
  readonly receipt: ExecutionReceipt;
  /** The relays to which the task was forwarded, nearest first, each with its attestation. */
  readonly attested: readonly Attested[];
}

const TIMEOUT_MS = 40_000;

/**
 * Delegates to a worker of another relay by its id; `path` lists the relays from the payer's to the
 * worker's.
 */
export async function delegateAcrossRelays(
  payer: ClientAgent,
  worker: Worker,
  prompt: string,
  path: readonly NetworkRelay[],
): Promise<ForwardedJob> {
  const { agentId } = worker;
  const delegated = await delegate(payer.client, { agentId, prompt, timeoutMs: TIMEOUT_MS });
  if (!delegated.ok)
    throw new Error(`delegation of ${payer.name} failed: ${delegated.message} (${delegated.code})`);
  const { receipt, task } = delegated;
  const taskId = task.task_id;
  const attested: Attested[] = [];
  for (const [at, by] of path.slice(1).entries()) {
    const holder = path[at];
    if (holder === undefined) break;
    const { attestation } = unwrapBody(
      await holder.operator.getTask({ params: { agentId, taskId } }),
    );
    if (attestation === undefined) throw new Error(`no attestation of ${by.name}`);
    attested.push({ by, attestation: attestation as unknown as RelayAttestation });
  }
  return { payer, worker, taskId, prompt, receipt, attested };
}
