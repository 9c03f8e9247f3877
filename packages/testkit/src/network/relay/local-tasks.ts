import { buildReleasePostings, buildSettlementPostings, splitFee } from "@agent/budget";
import {
  checkNestedReceipt,
  type EndableTask,
  type EndedBy,
  canEndTask,
  type RecordedTask,
} from "@agent/federation-protocol/forwarding";
import {
  type ExecutionReceipt,
  flattenChain,
  hashReceipt,
  getVerdictAt,
  verifyReceipt,
} from "@agent/receipts";
import type { Reply } from "../links.ts";
import { enqueueResult } from "./results.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Accepts a receipt that an agent delivers to its own relay, and the receipts inside it. */
export function receiveReceipt(relay: SimRelay, receipt: ExecutionReceipt): Reply {
  const taskId = receipt.relay_task_id ?? "";
  const task = findTask(relay, taskId);
  if (!task?.isOpen || task.executor !== receipt.agent_id) {
    return { status: 404, code: "task.not_found" };
  }
  const trusts = relay.world.faults.trustsEmbeddedKeys === true;
  const keyOf = (signed: ExecutionReceipt) => (trusts ? undefined : listKeys(relay, signed));
  const isRegistered = (signed: ExecutionReceipt) => trusts || keyOf(signed) !== undefined;
  const found = keyOf(receipt);
  // A receipt with an unknown key must not move a hold.
  const publicKey = task.locked > 0 && !trusts ? (found ?? []) : found;
  const { now } = relay;
  const verdict = verifyReceipt(receipt, { publicKey, taskId, now, findKeys: keyOf });
  if (!verdict.valid) return { status: 403, code: verdict.code };
  const isKeyRegistered = isRegistered(receipt);
  const hops = flattenChain(receipt).links.filter((link) => {
    if (getVerdictAt(verdict, link.path)?.valid !== true) return false;
    const { task_id, agent_id } = link.receipt;
    const nested = {
      taskId: task_id,
      agentId: agent_id,
      parentAgentId: link.parent.agent_id,
      areKeysRegistered: isKeyRegistered && isRegistered(link.receipt),
    };
    return checkNestedReceipt(findTask(relay, task_id), nested).ok;
  });
  if (!endTask(relay, receipt, { kind: "receipt", isKeyRegistered })) {
    return { status: 403, code: "task.not_participant" };
  }
  for (const hop of hops) endTask(relay, hop.receipt, { kind: "receipt", isKeyRegistered: true });
  return { status: 200 };
}

const UNKNOWN_PEER = "not chosen yet";

function listKeys(relay: SimRelay, { agent_id }: ExecutionReceipt): readonly string[] | undefined {
  const key = relay.keys.get(agent_id);
  return key === undefined ? undefined : [key];
}

function findTask(relay: SimRelay, taskId: string): (RecordedTask & EndableTask) | null {
  const { store, world } = relay;
  const ignoresForwarding = world.faults.endsForwardedTasks === true;
  const sentTo = store.outbound.get(taskId)?.task.peerId;
  const own = store.ownTasks.get(taskId);
  if (own !== undefined) {
    return {
      taskId,
      submittedBy: own.payerId,
      executor: own.agentId,
      isOpen: own.state === "open",
      peerId: ignoresForwarding ? null : (sentTo ?? own.peerId),
      isFromPeer: false,
      locked: own.locked,
    };
  }
  const inbound = store.inbound.get(taskId)?.task;
  if (inbound === undefined) return null;
  // A task without a path waits for one and never returns to this relay.
  const isOurs = relay.workers.has(inbound.agentId);
  const nextPeerId = sentTo ?? (isOurs ? null : UNKNOWN_PEER);
  return {
    taskId,
    submittedBy: ignoresForwarding ? null : inbound.peerId,
    executor: inbound.agentId,
    isOpen: inbound.state === "running",
    peerId: ignoresForwarding ? null : nextPeerId,
    isFromPeer: !ignoresForwarding,
    locked: inbound.amount,
  };
}

function endTask(relay: SimRelay, receipt: ExecutionReceipt, endedBy: EndedBy): boolean {
  const { task_id: taskId, status } = receipt;
  const task = findTask(relay, taskId);
  if (task === null || !task.isOpen || !canEndTask(task, endedBy)) return false;
  if (relay.world.truth.forged.has(hashReceipt(receipt))) {
    relay.reportViolation(`a forged receipt ended ${taskId}`);
  }
  const own = relay.store.ownTasks.get(taskId);
  if (own === undefined) {
    enqueueResult(relay, taskId, receipt);
    return true;
  }
  own.state = status;
  const isPaid = status === "completed" && own.peerId === null;
  const { payerId, agentId: payeeId, price: charge, locked } = own;
  const { fee } = splitFee(charge, relay.feeRate);
  relay.post(
    taskId,
    isPaid
      ? buildSettlementPostings({ payerId, payeeId, taskId, locked, charge, fee })
      : buildReleasePostings({ payerId, taskId, amount: locked }),
  );
  return true;
}
