import { toDollars, ZERO, type Micro } from "@agent/budget";
import { SUITE } from "@agent/crypto";
import { entryOf } from "@agent/transparency";
import { recordRelayEvent } from "../feed/record-event.ts";
import { appendLog } from "../log/entries/append.ts";
import type { Log } from "../observability/log.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { NewSettlement, SettlementRow } from "../storage/tables/budget.ts";
import type { PostedRow } from "./post-movement.ts";
import { buildSettlementBody } from "./sign-settlement.ts";
import { findPaymentOfTask } from "./settlement-facts-store.ts";
import { insertSettlement } from "./store.ts";

interface RecordedSettlement {
  readonly taskId: string;
  readonly settlementId: string;
  readonly allocationId: string;
  readonly receiptHash: string;
  /** Of the ledger that the amount follows from; absent where none does. */
  readonly ledgerHash?: string | undefined;
  /** In micro-units; absent for a refund, which moves nothing to the payee. */
  readonly terms?: { readonly gross: Micro; readonly fee: Micro; readonly net: Micro };
  readonly payerId: string;
  readonly payeeId: string;
  readonly status: NewSettlement["status"];
  readonly settledAt: number;
  readonly x402?: NewSettlement["x402"];
  /** Of the outcome of an inspection; absent for a task that was not inspected. */
  readonly outcomeHash?: string;
}

/** Stores what was paid for a task, with the postings that paid it. */
export async function recordSettlement(
  tx: Tx,
  { identity }: Pick<Services, "identity">,
  recorded: RecordedSettlement,
  rows: readonly PostedRow[],
): Promise<NewSettlement> {
  const { gross, fee, net } = recorded.terms ?? { gross: ZERO, fee: ZERO, net: ZERO };
  const settlement: NewSettlement = {
    task_id: recorded.taskId,
    settlement_id: recorded.settlementId,
    allocation_id: recorded.allocationId,
    receipt_hash: recorded.receiptHash,
    ledger_hash: recorded.ledgerHash ?? null,
    amount_settled: gross,
    fee,
    net,
    payer_id: recorded.payerId,
    payee_id: recorded.payeeId,
    status: recorded.status,
    settled_at: recorded.settledAt,
    x402: recorded.x402,
    postings: JSON.stringify(rows),
    outcome_hash: recorded.outcomeHash ?? null,
  };
  const { x402: _, ...stored } = settlement;
  const x402 = recorded.x402 ?? (await findPaymentOfTask(tx, recorded.taskId));
  const row: SettlementRow = {
    ...stored,
    x402_tx_hash: x402?.txHash ?? null,
    x402_network: x402?.network ?? null,
    // The position of the key in force: it only changes while the relay is stopped.
    relay_key: identity.succession.length,
  };
  await insertSettlement(tx, row);
  await recordRelayEvent(tx, {
    at: settlement.settled_at,
    type: "money.settled",
    task_id: settlement.task_id,
    settlement_id: settlement.settlement_id,
    payer_id: settlement.payer_id,
    payee_id: settlement.payee_id,
    amount: toDollars(gross),
    fee: toDollars(fee),
  });
  await appendLog(tx, () => {
    const record = { ...buildSettlementBody(row, identity), suite: SUITE };
    return entryOf.settlement(record, { time: settlement.settled_at });
  });
  return settlement;
}

type LoggedSettlement = Pick<
  NewSettlement,
  "task_id" | "settlement_id" | "status" | "net" | "fee" | "payer_id" | "payee_id"
>;

/** Logs a settlement once it is durable; `peer` is the relay that it was made with. */
export function logSettlement(
  log: Log,
  { task_id, settlement_id, status, net, fee, payer_id, payee_id }: LoggedSettlement,
  peer?: { readonly relay_id: string },
): void {
  log.info("settlement.created", {
    correlationId: task_id,
    settlement_id,
    ...peer,
    status,
    net: toDollars(net),
    fee: toDollars(fee),
    payer_id,
    payee_id,
  });
}
