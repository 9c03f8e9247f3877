import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import type { InboundTask, OutboundTask } from "@agent/federation-protocol/forwarding";
import type { HostilePeer } from "./hostile-peer.ts";
import type { HostileHistory } from "./hostile-step.ts";

/** Checks that no hostile peer has had more than its credit, and that no submitter paid for a false receipt. */
export async function checkLoss(history: HostileHistory): Promise<void> {
  for (const peer of history.peers) await checkCredit(history, peer);
  await checkPaidReceipts(history);
}

/** Refused results are forgiven up to the credit limit once, so a peer can have as much again. */
const LIMITS_PER_PEER = 2;

/**
 * Checks that the work that a peer has seen and not paid, and the money that it owes, are together at most
 * what the settlement terms grant it. What the operator has written off is no loss to the peer.
 */
async function checkCredit(
  { relay, granted, cleared }: HostileHistory,
  { signer: { relayId } }: HostilePeer,
): Promise<void> {
  const rows = await relay.list<{ body: string }>(
    "select body from federation_inbound where relay_id = ? and settlement_id is null",
    [relayId],
  );
  const unpaid = rows
    .map(({ body }) => JSON.parse(body) as InboundTask)
    .filter(({ receiptStatus, hold, amount }) => {
      // An open hold is a debt in the account already.
      return receiptStatus === "completed" && hold !== "open" && amount > 0;
    });
  const [account] = await relay.list<{ balance: number }>(
    "select balance from accounts where account = ?",
    [`peer:${relayId}`],
  );
  const work = unpaid.reduce((sum, { amount }) => sum + amount, 0);
  const loss = work - Number(account?.balance ?? 0) - (cleared.get(relayId) ?? 0);
  const limit = LIMITS_PER_PEER * granted.get(relayId)!;
  if (loss <= limit) return;
  relay.fail("a peer gets its credit at most", { loss, limit, balance: account?.balance, unpaid });
}

interface PaidTask {
  readonly task_id: string;
  readonly outbound: string;
  readonly receipt: string | null;
}

/** Checks that what was paid to a peer has a receipt that the pinned key of the executor signed. */
async function checkPaidReceipts({ relay }: HostileHistory): Promise<void> {
  const paid = await relay.list<PaidTask>(
    `select s.task_id, o.body as outbound, r.body as receipt from settlements as s
     join federation_outbound as o on o.task_id = s.task_id
     left join receipts as r on r.task_id = s.task_id
     where s.amount_settled > 0`,
  );
  for (const { task_id, outbound, receipt } of paid) {
    const { publicKey } = JSON.parse(outbound) as OutboundTask;
    const parsed = receipt === null ? null : (JSON.parse(receipt) as ExecutionReceipt);
    // Without its texts a receipt no longer verifies.
    if (parsed?.result === parsed?.result_hash && parsed !== null) continue;
    const isValid = parsed?.task_id === task_id && verifyReceipt(parsed, { publicKey }).valid;
    if (!isValid)
      relay.fail("a paid task has its executor's receipt", { task_id, outbound, parsed });
  }
}

/** Checks that each of the relay's executors was paid for an accepted result, or that a default says why not. */
export async function checkPaidWork({ relay, peers, cleared }: HostileHistory): Promise<void> {
  for (const { signer } of peers) {
    if (cleared.has(signer.relayId)) continue;
    const accepted = await relay.list<{ task_id: string; body: string }>(
      "select task_id, body from federation_inbound where relay_id = ? and settlement_id is null",
      [signer.relayId],
    );
    for (const { body } of accepted) {
      const task = JSON.parse(body) as InboundTask;
      const isOwed = task.state === "completed" && task.amount > 0 && task.hold !== "defaulted";
      if (isOwed) relay.fail("an accepted result is paid or in default", task);
    }
  }
}
