import type { IssuerDependencies } from "../../credentials/issue.ts";
import { issueForTask } from "../../credentials/issue-for-task.ts";
import { isExecutedByNamesake } from "../../federation/is-executed-by-namesake.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { countsForPeer } from "../../trust/counts-for-peer.ts";
import { recordTrustOutcome } from "../../trust/record-trust-outcome.ts";
import { enqueueCredentialsIssued } from "../../webhooks/enqueue-task-webhooks.ts";
import type { ReputationUpdate } from "./record-task-outcome.ts";
import { findTask } from "../store.ts";

/**
 * The payment of a task between relays; the peer that returned the result gains trust like the
 * executor.
 */
interface TaskPayment {
  readonly taskId: string;
  readonly executorId: string;
  /** The fee that this relay kept, in micro-units. */
  readonly fee: number;
  /** Whether the payment moved card money that is not released. */
  readonly hasCardMoney: boolean;
  /** The relay that the task was forwarded to; absent at the relay whose agent did it. */
  readonly peerId?: string;
}

/**
 * Counts the success of a task that was paid after its receipt arrived, because the payment came from
 * another relay. A task that is no longer stored is not counted.
 */
export async function recordTaskPayment(
  tx: Tx,
  services: IssuerDependencies & Pick<Services, "config" | "identity" | "subscriptions">,
  { taskId, executorId, fee, hasCardMoney, peerId }: TaskPayment,
): Promise<readonly ReputationUpdate[]> {
  const task = await findTask(tx, taskId);
  if (task === undefined || task.finished_at === null) return [];
  const outcome = {
    status: "completed",
    latencyMs: task.finished_at - task.submitted_at,
    priced: true,
    fee,
    hasCardMoney,
    isPayment: true,
    now: services.runtime.now(),
  } as const;
  const { submitted_by: delegatorId } = task;
  const { relayId } = services.identity;
  /** Counts it for the peer after the payer's own record, whose fees then include this one. */
  const recordForPeer = async (peer: string): Promise<ReputationUpdate> => {
    const ordered = { peerId: peer, payerId: delegatorId, priced: true, hasFailed: false, fee };
    const isNeutral = hasCardMoney || !(await countsForPeer(tx, ordered));
    const ofPeer = { ...outcome, delegatorId: relayId, executorId: peer, isNeutral };
    return { trust: await recordTrustOutcome(tx, ofPeer), credentials: [] };
  };
  if (peerId !== undefined && (await isExecutedByNamesake(tx, taskId))) {
    return [await recordForPeer(peerId)];
  }
  const trust = await recordTrustOutcome(tx, { ...outcome, delegatorId, executorId });
  const { status } = outcome;
  const credentials = await issueForTask(tx, services, {
    taskId,
    delegatorId,
    executorId,
    status,
    trust,
  });
  await enqueueCredentialsIssued(tx, services, taskId, credentials);
  if (peerId === undefined) return [{ trust, credentials }];
  return [{ trust, credentials }, await recordForPeer(peerId)];
}
